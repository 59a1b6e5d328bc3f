// The server: asked in JSON, answered in JSON.

/** Why there is no answer, in the server's words. */
export class ApiError extends Error {
  /** @param {{kind: string, message: string, complaints?: {line?: number, column?: number, message: string}[]}} error */
  constructor(error) {
    super(error.message);
    this.kind = error.kind;
    this.complaints = error.complaints ?? [];
  }
}

/** @param {string} path @param {object} [body] @param {string} [method] @returns {Promise<any>} */
export async function ask(path, body, method = body ? "POST" : "GET") {
  let response;
  try {
    response = await fetch(`/api/${path}`, {
      method,
      headers: body ? { "content-type": "application/json" } : {},
      body: body ? JSON.stringify(body) : undefined,
    });
  } catch {
    throw new ApiError({ kind: "unreachable", message: "The explorer does not answer: has the command ended?" });
  }
  let said;
  try {
    said = await response.json();
  } catch {
    throw new ApiError({ kind: "internal", message: `The explorer's answer makes no sense (${response.status}).` });
  }
  if (said.error) throw new ApiError(said.error);
  return said;
}

let about;

/** What there is to know of the protocol: asked once. @returns {Promise<any>} */
export function aboutProtocol() {
  about ??= ask("about");
  return about;
}

/**
 * Begins a job, and tells of it until it ends.
 * @param {object} wish @param {(status: any) => void} tell
 * @returns {{cancel: () => void, ended: Promise<any>}}
 */
export function job(wish, tell) {
  let id;
  let left = false;
  const cancel = () => {
    left = true;
    if (id !== undefined) ask(`jobs/${id}`, undefined, "DELETE").catch(() => {});
  };
  const ended = (async () => {
    ({ id } = await ask("jobs", wish));
    if (left) cancel();
    for (let pause = 30; ; pause = Math.min(pause * 1.5, 400)) {
      const status = await ask(`jobs/${id}`);
      tell(status);
      if (["done", "cancelled", "failed"].includes(status.stage)) return status;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  })();
  return { cancel, ended };
}
