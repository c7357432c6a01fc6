// Custom evaluators: a conversation by lines. First {graph, member}; the answer is a header as in run.mjs. Then batches:
//   {"fresh": false, "calls": TEXT}   all in one realm, which is dropped once a call leaves marks on its intrinsics
//   {"fresh": true, "calls": TEXT}    a realm per call
// TEXT is the JSON of an array of inputs. The answer is {"results": [verdict or {failure}]}, in order.
import { Realm, firstPlace, refusal, unlinked } from "./realm.mjs";

async function open(graph, member, stackTraceLimit) {
  const realm = new Realm(graph, () => {}, stackTraceLimit);
  try {
    realm.link();
  } catch (error) {
    return { realm, outcome: unlinked(realm, error) };
  }
  const { stack, ...outcome } = await realm.run("evaluator", member);
  if (realm.denials.length > 0) return { realm, outcome: refusal(realm) };
  const place = stack ? firstPlace(stack, realm.paths) : null;
  return { realm, outcome: place === null ? outcome : { ...outcome, place } };
}

async function grade(realm, text) {
  realm.driver.evaluate(text);
  await realm.settled(() => realm.driver.abandon());
  return realm.driver.outcome();
}

/** Join the inside of two JSON arrays given as text `{"results":[...],"dirty":...}`. */
const inside = (text) => text.slice('{"results":['.length, text.lastIndexOf('],"dirty":'));

export async function converse(readLine, write) {
  const { graph, member, stackTraceLimit } = JSON.parse(readLine());
  let { realm, outcome } = await open(graph, member, stackTraceLimit);
  write(JSON.stringify(outcome));
  if (outcome.status !== "ok") return;
  for (let line = readLine(); line !== null; line = readLine()) {
    const { fresh, calls } = JSON.parse(line);
    const parts = [];
    if (fresh) {
      for (const call of JSON.parse(calls)) {
        const own = await open(graph, member);
        if (own.outcome.status !== "ok") parts.push(JSON.stringify({ failure: `the module failed to load: ${own.outcome.message ?? own.outcome.status}` }));
        else parts.push(inside(await grade(own.realm, JSON.stringify([call]))));
      }
    } else {
      let text = calls;
      for (;;) {
        realm ??= (await open(graph, member)).realm;
        const answer = await grade(realm, text);
        parts.push(inside(answer));
        if (answer.endsWith('"dirty":false}')) break;
        realm = null;
        const rest = JSON.parse(text).slice(JSON.parse(answer).results.length);
        if (rest.length === 0) break;
        text = JSON.stringify(rest);
      }
    }
    write(`{"results":[${parts.join(",")}]}`);
  }
}
