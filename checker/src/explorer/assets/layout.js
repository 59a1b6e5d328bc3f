// Where everything in a space-time diagram lies: plain data in, plain data out.

/** The height of one step. */
export const ROW = 30;
/** Room above the first step. */
export const TOP = 18;

/** @param {number} step */
export const yOf = (step) => TOP + step * ROW;

/** The lanes that are worth a column: runs of methods only once they make calls. @param {any} reply */
function shownLanes(reply) {
  const used = new Set();
  for (const step of reply.steps) {
    used.add(step.lane);
    for (const call of step.calls) used.add(call.lane);
  }
  return reply.lanes.map((lane, id) => ({ ...lane, id })).filter((lane) => lane.kind !== "run" || used.has(lane.id));
}

/**
 * @param {any} reply the server's answer
 * @param {number} width how wide a lane is
 */
export function layout(reply, width) {
  const lanes = shownLanes(reply).map((lane, column) => ({ ...lane, x: width / 2 + column * width }));
  const x = new Map(lanes.map((lane) => [lane.id, lane.x]));
  const last = reply.steps.length;
  return {
    lanes,
    width: lanes.length * width,
    height: yOf(last) + ROW,
    lifelines: lanes.flatMap((lane) => lifelines(lane, reply.steps, last)),
    runs: runs(reply.steps, x, last),
    calls: callBars(reply.steps, x, last),
    messages: messages(reply.steps, x, last),
    marks: reply.steps.flatMap((step, index) => marksOf(step, index + 1, x)),
  };
}

/** A lane's line: solid for a caller and an owner, broken for a predecessor, dotted while draining. */
function lifelines(lane, steps, last) {
  const from = lane.begins;
  const to = lane.ends ?? last + 0.8;
  if (lane.kind !== "incarnation") return [{ x: lane.x, from: 0, to, look: lane.kind }];
  const looks = [];
  for (let step = from; step < to; step += 1) {
    const life = step === 0 ? { owner: true, draining: false } : steps[step - 1]?.lives.find((it) => it.lane === lane.id);
    const look = !life ? "owner" : life.draining ? "draining" : life.owner ? "owner" : "predecessor";
    const before = looks.at(-1);
    if (before?.look === look) before.to = Math.min(step + 1, to);
    else looks.push({ x: lane.x, from: step, to: Math.min(step + 1, to), look });
  }
  return looks;
}

/** What incarnations have let in, from then until it is answered. */
function runs(steps, x, last) {
  const open = new Map();
  const all = [];
  steps.forEach((step, index) => {
    const now = new Map(step.lives.flatMap((life) => life.runs.map((run) => [`${life.lane} ${run.id}`, { lane: life.lane, ...run }])));
    for (const [key, run] of open) {
      const is = now.get(key);
      if (!is || is.running !== run.running) {
        all.push({ ...run, to: index + 1 });
        open.delete(key);
      }
    }
    for (const [key, run] of now) {
      if (!open.has(key)) open.set(key, { x: x.get(run.lane), running: run.running, from: index + 1 });
    }
  });
  for (const run of open.values()) all.push({ ...run, to: last + 0.6 });
  return all;
}

/** A caller's attempts, one after the other, with the waiting between them. */
function callBars(steps, x, last) {
  const open = new Map();
  const all = [];
  const places = new Map();
  const late = new Set();
  steps.forEach((step, index) => {
    const at = index + 1;
    for (const call of step.calls) {
      const before = open.get(call.call);
      if (before && before.stage === call.stage && before.attempt === call.attempt) continue;
      if (before) all.push({ ...before, to: at });
      open.delete(call.call);
      if (["answered", "failed", "ended"].includes(call.stage)) continue;
      const busy = [...open.values()].filter((it) => it.lane === call.lane).map((it) => it.place);
      let place = before?.place ?? 0;
      if (!before) while (busy.includes(place)) place += 1;
      places.set(call.call, place);
      const fresh = !before || before.attempt !== call.attempt;
      open.set(call.call, { lane: call.lane, x: x.get(call.lane) - 7 - place * 9, place, name: call.name, attempt: call.attempt, stage: call.stage, from: at, fresh });
    }
    for (const call of step.calls) {
      if (call.cutoff_ms !== null && call.cutoff_ms <= 0 && !late.has(call.call) && open.has(call.call)) {
        late.add(call.call);
        all.push({ cutoff: true, x: x.get(call.lane), from: at, to: at, name: call.name });
      }
    }
  });
  for (const bar of open.values()) all.push({ ...bar, to: last + 0.6 });
  return all;
}

/** Arrows: from where and when a message left to where and when it ended, and how. */
function messages(steps, x, last) {
  const open = new Map();
  const all = [];
  steps.forEach((step, index) => {
    const at = index + 1;
    for (const landing of step.ended) {
      const flight = open.get(landing.id);
      if (!flight) continue;
      open.delete(landing.id);
      all.push({ ...flight, to: { x: x.get(landing.at), y: yOf(at) }, ends: at, how: landing.how, late: landing.late });
    }
    for (const flight of step.sent) {
      open.set(flight.id, { ...flight, from: { x: x.get(flight.from), y: yOf(at) }, begins: at });
    }
  });
  for (const flight of open.values()) {
    const to = flight.answer ? laneOfCall(steps, flight.call) : steps.at(-1).lives.at(-1)?.lane;
    const target = x.get(to) ?? flight.from.x + 60;
    const share = 0.55;
    all.push({ ...flight, to: { x: flight.from.x + (target - flight.from.x) * share, y: Math.max(yOf(last) + 8, flight.from.y + 14) }, how: "under-way", late: false });
  }
  return all;
}

function laneOfCall(steps, name) {
  for (const step of steps) for (const call of step.calls) if (call.name === name) return call.lane;
  return undefined;
}

/** Marks of one step, side by side where they share a lane. */
function marksOf(step, at, x) {
  const taken = new Map();
  return step.marks.filter((mark) => x.has(mark.lane)).map((mark) => {
    const place = taken.get(mark.lane) ?? 0;
    taken.set(mark.lane, place + 1);
    return { ...mark, at, place, x: x.get(mark.lane), y: yOf(at), from: x.get(step.lane) };
  });
}
