// The address holds where one is: the scenario, the choices made, which of the states is looked at, and a fingerprint by
// which another version knows that it is another.

/**
 * @typedef {{name?: string, toml?: string, mutant?: string}} ScenarioRef
 * @typedef {{page: string, scenario?: ScenarioRef, path: number[], at?: number, check?: string, goal?: string}} Place
 */

/** @param {Uint8Array} bytes */
function base64(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** @param {string} text */
function unbase64(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
}

/** @param {Uint8Array} bytes @param {GenericTransformStream} stream */
async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

const packed = new Map();

/** A scenario's text, small enough for an address. @param {string} text */
export async function pack(text) {
  if (!packed.has(text)) {
    packed.set(text, base64(await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"))));
  }
  return packed.get(text);
}

/** @param {string} text */
async function unpack(text) {
  return new TextDecoder().decode(await through(unbase64(text), new DecompressionStream("deflate-raw")));
}

/** The address of a place. @param {Place} place @returns {Promise<string>} */
export async function addressOf(place) {
  if (place.page !== "explore") return place.page === "library" ? "#/" : `#/${place.page}`;
  const query = new URLSearchParams();
  if (place.scenario.name) query.set("s", place.scenario.name);
  else query.set("t", await pack(place.scenario.toml));
  if (place.scenario.mutant) query.set("m", place.scenario.mutant);
  if (place.path.length) query.set("p", place.path.map((choice) => choice.toString(36)).join("."));
  if (place.at !== undefined && place.at !== place.path.length) query.set("at", String(place.at));
  if (place.check) query.set("v", place.check);
  return `#/explore?${query}`;
}

/** The place at an address. @param {string} hash @returns {Promise<Place>} */
export async function placeOf(hash) {
  const [page, query] = hash.replace(/^#\/?/, "").split("?");
  if (page !== "explore") return { page: page || "library", path: [] };
  const said = new URLSearchParams(query);
  const path = said.get("p") ? said.get("p").split(".").map((choice) => Number.parseInt(choice, 36)) : [];
  if (path.some((choice) => !Number.isInteger(choice) || choice < 0)) throw new Error("The path in this address makes no sense.");
  const scenario = {};
  if (said.get("s")) scenario.name = said.get("s");
  else if (said.get("t")) {
    try {
      scenario.toml = await unpack(said.get("t"));
    } catch {
      throw new Error("The scenario in this address makes no sense: was the address cut short?");
    }
  } else throw new Error("This address names no scenario.");
  if (said.get("m")) scenario.mutant = said.get("m");
  const at = said.get("at") === null ? path.length : Number(said.get("at"));
  return { page: "explore", scenario, path, at: Math.min(Number.isInteger(at) && at >= 0 ? at : path.length, path.length), check: said.get("v") ?? undefined, goal: said.get("go") ?? undefined };
}
