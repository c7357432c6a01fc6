// What the host asks of a realm: transform, load, grade. Every member takes and gives primitives, or objects of the realm.
(function driver(kit) {
  "use strict";

  const { isProxy, pure, writer, timers, refusal, library, part } = kit;
  const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, has, ownKeys } = Reflect;
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const { freeze, hasOwn } = Object;
  const { isArray } = Array;
  const { parse, stringify } = JSON;
  const { Object: Box, Promise } = globalThis;
  const indexOf = uncurry(String.prototype.indexOf);
  const slice = uncurry(String.prototype.slice);
  const then = uncurry(Promise.prototype.then);
  const ArrayPrototype = Array.prototype;
  const { check, describe, fault, isWellFormed, named, stackOf, textOf, textWithFunctions } = writer;

  // `outcome` is JSON text once the run has ended.
  let outcome = null;
  function finish(fields) {
    outcome ??= stringify(fields);
  }
  function fail(status, error) {
    finish({ __proto__: null, status, message: describe(error), stack: stackOf(error) });
  }
  function refuse(inner, prefix, item) {
    const id = item === undefined ? undefined : getOwnPropertyDescriptor(item, "id")?.value;
    const named = typeof id === "string" && id !== "" && id.length <= 200 && isWellFormed(id) ? { __proto__: null, caseId: id } : null;
    finish({ __proto__: null, status: inner.limit ? "limit" : "invalid", pointer: prefix + inner.pointer, message: inner.why, ...named });
  }
  function invalid(message) {
    finish({ __proto__: null, status: "invalid", message });
  }

  /** Call `next` with the value behind a promise or thenable, or at once when it is neither. */
  function settle(value, next) {
    if (typeof value !== "object" && typeof value !== "function" || value === null) return next(value);
    let waiting;
    try {
      if (!isPromise(value) && typeof value.then !== "function") return next(value);
      waiting = apply(Promise.resolve, Promise, [value]);
    } catch (error) {
      return fail("threw", error);
    }
    then(waiting, next, (error) => fail("threw", error));
  }
  const isPromise = (value) => {
    for (let up = value, steps = 0; up !== null && steps < 20 && !isProxy(up); up = getPrototypeOf(up), steps++) if (up === Promise.prototype) return true;
    return false;
  };

  // ---- transform --------------------------------------------------------------------------------------------------------

  const sources = {};
  const MAX_CASES = 25_000;
  const CHUNK = 1 << 20;

  function source(name, path, sha256, content) {
    defineProperty(sources, name, { __proto__: null, value: { path, content, sha256 }, writable: true, enumerable: true, configurable: true });
  }

  function transform(namespace) {
    try {
      if (!has(namespace, "default")) return invalid("the default export must be an object { name, transform }, and there is none");
      const module = namespace.default;
      if (typeof module !== "object" || module === null) return invalid("the default export must be an object { name, transform }, got " + (module === null ? "null" : typeof module));
      const { name } = module;
      if (typeof name !== "string" || name === "" || !isWellFormed(name)) return invalid("`name` of the default export must be a non-empty string, got " + (typeof name === "string" ? stringify(name) : typeof name));
      if (typeof module.transform !== "function") return invalid("`transform` of the default export must be a function, got " + typeof module.transform);
      settle(module.transform({ sources }), (cases) => {
        try {
          writeCases(name, cases);
        } catch (error) {
          fail("threw", error);
        }
      });
    } catch (error) {
      fail("threw", error);
    }
  }

  function writeCases(name, cases) {
    if (isProxy(cases) || !isArray(cases) || getPrototypeOf(cases) !== ArrayPrototype) return invalid("transform() must return an array of cases, got " + named(cases));
    const { length } = cases;
    if (length === 0) return invalid("transform() returned no cases");
    if (length > MAX_CASES) return invalid("transform() returned " + length + " cases; a release holds " + MAX_CASES + " at most");
    let text = "";
    for (let i = 0; i < length; i++) {
      const property = getOwnPropertyDescriptor(cases, i);
      if (property === undefined) return refuse(fault("a hole in the array of cases"), "/" + i);
      if (!hasOwn(property, "value")) return refuse(fault("an accessor"), "/" + i);
      const item = property.value;
      if (typeof item !== "object" || item === null || isArray(item)) return invalid("a case must be an object; at /" + i + " of the result stands " + named(item));
      const inner = check(item, 0, false);
      if (inner !== null) return refuse(inner, "/" + i, isProxy(item) ? undefined : item);
      try {
        const line = textOf(item);
        if (line === undefined) return invalid("Object.prototype or Array.prototype has a toJSON");
        text += line + "\n";
      } catch {
        return refuse(fault("more text than a string can hold", true), "/" + i, item);
      }
      if (text.length > CHUNK) {
        pure("emit", text);
        text = "";
      }
    }
    if (ownKeys(cases).length !== length + 1) return invalid("the array of cases has extra properties");
    if (text !== "") pure("emit", text);
    finish({ __proto__: null, status: "ok", name, count: length });
  }

  // ---- load ---------------------------------------------------------------------------------------------------------------

  function loadDefault(namespace) {
    try {
      if (!has(namespace, "default")) return invalid("the module has no default export");
      const value = namespace.default;
      writer.renew();
      const inner = check(value, 0, true);
      if (inner !== null) return refuse(inner, "");
      let list = "";
      const text = textWithFunctions(value, "", (pointer) => { list += (list === "" ? "" : ",") + stringify(pointer); });
      pure("emit", '{"value":' + text + ',"functions":[' + list + "]}\n");
      finish({ __proto__: null, status: "ok" });
    } catch (error) {
      fail("threw", error);
    }
  }

  // ---- evaluate -------------------------------------------------------------------------------------------------------------

  let target = null;
  let receiver = undefined;
  let calls = null;
  let serial = 0;

  /** Find the function that grades: `names` is a chain of members joined by dots, the first an export. */
  function evaluator(namespace, names) {
    try {
      let value = namespace;
      let rest = names;
      let owner;
      while (rest !== "") {
        const dot = indexOf(rest, ".");
        const part = dot < 0 ? rest : slice(rest, 0, dot);
        rest = dot < 0 ? "" : slice(rest, dot + 1);
        owner = value;
        value = value === null || value === undefined || !has(Box(value), part) ? undefined : value[part];
      }
      if (typeof value === "object" && value !== null && typeof value.evaluate === "function") {
        owner = value;
        value = value.evaluate;
      }
      if (typeof value !== "function") return invalid("`" + names + "` must be a function, or an object with an `evaluate` function; got " + (value === null ? "null" : typeof value));
      target = value;
      receiver = owner === namespace ? undefined : owner;
      finish({ __proto__: null, status: "ok" });
    } catch (error) {
      fail("threw", error);
    }
  }

  /** Take a batch of inputs: the JSON text of an array. The number of calls. */
  function batch(text) {
    calls = parse(text);
    return calls.length;
  }

  /** Grade one call with what `evaluator` found last; `outcome` is the verdict's text once there is one. */
  function grade(position) {
    const mine = ++serial;
    outcome = null;
    refusal.forget();
    timers.reset();
    const input = calls[position];
    calls[position] = undefined;
    try {
      const value = apply(target, receiver, [input]);
      if ((typeof value !== "object" && typeof value !== "function") || value === null || !(isPromise(value) || typeof value.then === "function")) {
        return judge(value);
      }
      const answer = apply(Promise.resolve, Promise, [value]);
      // What an earlier call left running must not answer for this one.
      then(answer, (inner) => { if (mine === serial) judge(inner); }, (error) => { if (mine === serial) failed("threw " + describe(error)); });
    } catch (error) {
      failed("threw " + describe(error));
    }
  }

  function put(text) {
    if (outcome !== null) return;
    const what = refusal.what();
    outcome = what === null ? text : stringify({ __proto__: null, failure: what + " is not available to benchmark modules" });
  }
  const failed = (why) => put(stringify({ __proto__: null, failure: why }));

  function judge(verdict) {
    try {
      const wrong = (why) => failed("wrong shape: " + why);
      if (typeof verdict !== "object" || verdict === null || isArray(verdict)) return wrong("a verdict must be an object { passed, score, message }, got " + (verdict === null ? "null" : isArray(verdict) ? "an array" : typeof verdict));
      writer.renew();
      const inner = check(verdict, 0, false);
      if (inner !== null) return wrong((inner.pointer || "the verdict") + " is " + inner.why);
      const own = (key) => (hasOwn(verdict, key) ? verdict[key] : undefined);
      const passed = own("passed");
      const score = own("score");
      const message = own("message");
      const details = own("details");
      if (typeof passed !== "boolean") return wrong("`passed` must be true or false, got " + typeof passed);
      if (typeof score !== "number" || !(score >= 0 && score <= 1)) return wrong("`score` must be a number from 0 to 1, got " + (typeof score === "number" ? score : typeof score));
      if (typeof message !== "string" && message !== null) return wrong("`message` must be a string or null, got " + typeof message);
      const text = textOf(details === undefined ? null : details);
      if (text === undefined) return wrong("Object.prototype or Array.prototype has a toJSON");
      put('{"passed":' + passed + ',"score":' + stringify(score) + ',"message":' + stringify(message) + ',"details":' + text + "}");
    } catch (error) {
      failed("threw " + describe(error));
    }
  }

  // ---- the driver: every member takes and gives primitives, or objects of this realm -----------------------------------------

  timers.onUncaught((error) => (calls === null ? fail("threw", error) : failed("threw in a timer: " + describe(error))));

  return freeze({
    __proto__: null,
    source, batch, grade,
    json: (text) => parse(text),
    builtin: (name) => library().module(name),
    describe,
    failed,
    /** Run the oldest timer that waits; whether there was one. */
    tick: () => timers.tick(),
    again() { outcome = null; },
    aim(namespace, names) {
      outcome = null;
      evaluator(namespace, names);
      return outcome === '{"status":"ok"}';
    },
    lockdown() {
      const shared = library();
      part("lockdown")([shared.globals, ...shared.all()]);
    },
    /** Once the entry has been evaluated, go on with `member`. */
    start(promise, member, namespace, argument) {
      const members = { __proto__: null, transform, load: loadDefault, evaluator };
      then(promise, () => members[member](namespace, argument), (error) => fail("threw", error));
    },
    unsettled: () => invalid("a promise never settles: nothing is left that could settle it"),
    outcome: () => outcome,
  });
})
