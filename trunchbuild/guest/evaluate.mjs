// Custom evaluators: a conversation by lines. First {graph, member}; the answer is a header as in run.mjs. Then batches:
//   {"fresh": false, "calls": TEXT}   new module instances per call, in one realm that is locked down
//   {"fresh": true, "calls": TEXT}    a realm per call
// TEXT is the JSON of an array of inputs. The answer is {"results": [verdict or {failure}]}, in order.
import { Realm, firstPlace, refusal, unlinked } from "./realm.mjs";

/** A realm whose entry has been evaluated and whose evaluator has been found, or why not. */
async function open(graph, member, { stackTraceLimit, locked = false } = {}) {
  const realm = new Realm(graph, () => {}, stackTraceLimit);
  try {
    realm.link();
    if (locked) realm.driver.lockdown();
  } catch (error) {
    return { realm, outcome: unlinked(realm, error) };
  }
  const { stack, ...outcome } = await realm.run("evaluator", member);
  if (realm.denials.length > 0) return { realm, outcome: refusal(realm) };
  const place = stack ? firstPlace(stack, realm.paths) : null;
  return { realm, outcome: place === null ? outcome : { ...outcome, place } };
}

/** Grade call number `at` with the evaluator that was found last. */
async function grade(realm, at) {
  const { driver } = realm;
  driver.grade(at);
  if (driver.outcome() === null) await realm.settled(() => driver.failed("its promise never settles"));
  return driver.outcome();
}

/** New instances of all modules in a realm that has been used, and the evaluator among them; whether that went well. */
async function renew(realm, member) {
  try {
    realm.link();
  } catch {
    return false;
  }
  const { driver, entry } = realm;
  const evaluated = entry.evaluate();
  if (entry.status === "evaluated" && !entry.hasAsyncGraph) return driver.aim(entry.namespace, member);
  driver.again();
  driver.start(evaluated, "evaluator", entry.namespace, member);
  await realm.settled();
  return driver.outcome() === '{"status":"ok"}';
}

async function shared(graph, member) {
  const { realm, outcome } = await open(graph, member, { locked: true });
  if (outcome.status !== "ok") return (text) => all(text, "the module does not load in a locked realm");
  return async (text) => {
    const parts = [];
    const count = realm.driver.batch(text);
    for (let at = 0; at < count; at++) {
      if (await renew(realm, member)) parts.push(await grade(realm, at));
      else parts.push(JSON.stringify({ failure: "the module did not load again" }));
    }
    return parts;
  };
}

const all = (text, failure) => JSON.parse(text).map(() => JSON.stringify({ failure }));

async function fresh(graph, member, text) {
  const parts = [];
  for (const call of JSON.parse(text)) {
    const { realm, outcome } = await open(graph, member);
    if (outcome.status === "ok") {
      realm.driver.batch(JSON.stringify([call]));
      parts.push(await grade(realm, 0));
    } else parts.push(JSON.stringify({ failure: `the module does not load: ${outcome.message}` }));
  }
  return parts;
}

export async function converse(readLine, write) {
  const { graph, member, stackTraceLimit } = JSON.parse(readLine());
  const { outcome } = await open(graph, member, { stackTraceLimit });
  write(JSON.stringify(outcome));
  if (outcome.status !== "ok") return;
  let batch = null;
  for (let line = readLine(); line !== null; line = readLine()) {
    const request = JSON.parse(line);
    batch ??= request.fresh ? null : await shared(graph, member);
    const parts = request.fresh ? await fresh(graph, member, request.calls) : await batch(request.calls);
    write(`{"results":[${parts.join(",")}]}`);
  }
}
