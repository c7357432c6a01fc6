// A realm of its own for one module graph: prelude first, then the author's modules over a closed map.
import fs from "node:fs";
import vm from "node:vm";
import { types } from "node:util";

import { answer } from "./host.mjs";

const read = (name) => fs.readFileSync(new URL(name, import.meta.url), "utf8");
const prelude = new vm.Script(read("./prelude.js"), { filename: "trunchbuild:prelude" });
const scripts = { __proto__: null };

/** Where the author's code stood when it used what is refused; the host's stack shows the realm's frames too. */
function placeOfCaller(paths) {
  const holder = {};
  Error.captureStackTrace(holder, placeOfCaller);
  return firstPlace(holder.stack, paths);
}

/** The first `path:line:column` of a stack that lies in one of the author's modules, or null. */
export function firstPlace(stack, paths) {
  for (const line of stack.split("\n")) {
    const found = /(?:\(|at (?:async )?)((?:[^()]|\([^()]*\))+):(\d+):(\d+)\)?$/.exec(line);
    if (found && paths.has(found[1])) return `${found[1]}:${found[2]}:${found[3]}`;
  }
  return null;
}

export class LinkError extends Error {}

export class Realm {
  /**
   * @param graph {entry, modules: {path: {kind, text}}, links: [[path, specifier, target]]}
   * @param emit gets each piece of the result's text
   */
  constructor(graph, emit, stackTraceLimit = 0) {
    this.graph = graph;
    this.denials = [];
    this.builtins = new Map();
    this.links = new Map(graph.links.map(([path, specifier, target]) => [`${path}\0${specifier}`, target]));
    const paths = new Set(Object.keys(graph.modules));
    this.paths = paths;
    this.context = vm.createContext(vm.constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } });
    const denials = this.denials;
    const deny = (what) => {
      if (denials.length < 20) denials.push({ what: String(what), place: placeOfCaller(paths) });
    };
    const call = (operation, a, b, c) => {
      if (operation === "emit") {
        emit(a);
        return "=";
      }
      return answer(operation, a, b, c);
    };
    const factory = (name) => {
      scripts[name] ??= new vm.Script(read(`./${name}.js`), { filename: `trunchbuild:${name}` });
      return scripts[name].runInContext(this.context);
    };
    this.driver = prelude.runInContext(this.context)(deny, call, (value) => types.isProxy(value), factory, stackTraceLimit);
  }

  /** Compile and link every module anew; the entry is ready to evaluate. Throws what V8 throws, or LinkError. */
  link() {
    const { context, driver, graph } = this;
    this.entry = undefined;
    const linked = new Map();
    const made = [];
    for (const [path, { kind, text }] of Object.entries(graph.modules)) {
      if (kind === "json") linked.set(path, this.constant(path, { default: driver.json(text) }));
      else {
        const module = new vm.SourceTextModule(text, { identifier: path, context });
        linked.set(path, module);
        made.push([path, module]);
      }
    }
    for (const [path, module] of made) {
      module.linkRequests(
        module.moduleRequests.map(({ specifier }) => {
          const target = this.links.get(`${path}\0${specifier}`);
          if (target === undefined) throw new LinkError(`${path} imports ${JSON.stringify(specifier)}, which was not resolved`);
          return linked.get(target) ?? this.builtin(target);
        }),
      );
    }
    const entry = linked.get(graph.entry);
    if (entry instanceof vm.SourceTextModule) this.entry = entry;
    else {
      this.entry = new vm.SourceTextModule('export { default } from "entry"', { identifier: graph.entry, context });
      this.entry.linkRequests([entry]);
    }
    this.entry.instantiate();
  }

  /** A built-in module, made once. */
  builtin(target) {
    if (!this.builtins.has(target)) this.builtins.set(target, this.constant(target, this.driver.builtin(target.slice(5))));
    return this.builtins.get(target);
  }

  /** A module of ready values: JSON, or a built-in's exports (an object of the realm). */
  constant(identifier, values) {
    const names = Object.keys(values);
    const module = new vm.SyntheticModule(names, () => { for (const name of names) module.setExport(name, values[name]); }, {
      identifier,
      context: this.context,
    });
    module.linkRequests?.([]);
    return module;
  }

  /** Evaluate the entry, then call the driver's `member` with its namespace; the outcome's fields as the host's data. */
  async run(member, argument) {
    const { driver, entry } = this;
    // The promise belongs to the realm; the realm waits for it, so that no function of ours becomes visible.
    driver.start(entry.evaluate(), member, entry.namespace, argument);
    await this.settled();
    return JSON.parse(driver.outcome());
  }

  /** Let promises and timers run until there is an outcome; what can never settle is an outcome too. */
  async settled(abandon = () => this.driver.unsettled()) {
    const { driver } = this;
    while (driver.outcome() === null) {
      await new Promise((resume) => setImmediate(resume));
      if (driver.outcome() === null && !driver.tick()) abandon();
    }
  }
}

const DENIED = "is not available to benchmark modules";

/** What a refusal becomes: every use that was seen, also where the author caught the error. */
export const refusal = ({ denials }) => ({
  status: "refused",
  message: "the modules use what is not available to them",
  faults: denials.map(({ what, place }) => ({ message: `${what} ${DENIED}`, ...(place === null ? {} : { place }) })),
});

/** What a failed link is for the author. V8 keeps its place to itself; the host finds it by other means. */
export function unlinked(realm, error) {
  if (error instanceof LinkError) return { status: "link", message: error.message };
  return { status: realm.entry === undefined ? "syntax" : "link", message: realm.driver.describe(error) };
}

/** Load one graph into a realm and run `member` with it; the outcome, where a caught refusal still is a refusal. */
export async function runGraph(graph, member, emit, prepare, stackTraceLimit) {
  const realm = new Realm(graph, emit, stackTraceLimit);
  try {
    realm.link();
  } catch (error) {
    return { ...unlinked(realm, error), ...(stackTraceLimit ? { place: graph.entry } : {}) };
  }
  prepare(realm);
  const { stack, pointer, caseId, ...outcome } = await realm.run(member);
  if (realm.denials.length > 0) return refusal(realm);
  if (outcome.status === "ok") return outcome;
  if (pointer !== undefined) {
    const where = `${pointer || "its root"}${caseId === undefined ? "" : ` (case ${caseId})`}`;
    outcome.message = `the result holds ${outcome.message} at ${where}${outcome.status === "limit" ? "" : ", which is no JSON"}`;
  }
  // Without a place the host runs once more, with a stack.
  const place = outcome.status === "threw" ? firstPlace(stack, realm.paths) : graph.entry;
  if (place === null && !stackTraceLimit) return outcome;
  return { ...outcome, place: place ?? graph.entry };
}
