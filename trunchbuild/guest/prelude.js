// Runs inside a fresh realm before any code of the author, and returns the driver that `run.mjs` speaks to.
//
// The sandbox is the wall; this file is for determinism and for messages. Two rules keep host objects out of the realm:
// - the host's functions live in closures here, get primitives (`isProxy` alone gets a value, and never touches it) and
//   give primitives; whatever they throw is dropped, since even a RangeError at the edge of the stack is a host object;
// - the host hands in primitives only, and reads nothing but primitives back.
// Everything used after start-up is captured now: the author may change any intrinsic that is not locked below.
(function boot(hostDeny, hostCall, isProxyOfHost, load, stackTraceLimit) {
  "use strict";

  const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, has, ownKeys } = Reflect;
  const uncurry = globalThis.Function.prototype.bind.bind(globalThis.Function.prototype.call);
  const { freeze, hasOwn, setPrototypeOf } = globalThis.Object;
  const { isArray } = Array;
  const { parse, stringify } = JSON;
  const isWellFormed = uncurry(globalThis.String.prototype.isWellFormed);
  const toWellFormed = uncurry(globalThis.String.prototype.toWellFormed);
  const slice = uncurry(globalThis.String.prototype.slice);
  const charCodeAt = uncurry(globalThis.String.prototype.charCodeAt);
  const indexOf = uncurry(globalThis.String.prototype.indexOf);
  const replaceAll = uncurry(globalThis.String.prototype.replaceAll);
  const then = uncurry(globalThis.Promise.prototype.then);
  const globals = globalThis;
  const { Date: RealDate, Error, Function: RealFunction, Intl, Map, Math, Number, Object, Promise, RangeError, RegExp, Set, String, TypeError } = globals;
  const ObjectPrototype = Object.prototype;
  const ArrayPrototype = Array.prototype;
  const resolved = Promise.resolve();

  /** Whether a value is a Proxy; at the edge of the stack the answer is the careful one. */
  function isProxy(value) {
    try {
      return isProxyOfHost(value);
    } catch {
      return true;
    }
  }

  // ---- helpers that survive any change the author makes -----------------------------------------------------------

  const locked = (target, key, value) =>
    defineProperty(target, key, { __proto__: null, value, writable: false, enumerable: false, configurable: false });
  const hidden = (target, key, value) =>
    defineProperty(target, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

  // Node's own code may end the process where the stack ends within it: enter it only with room to spare.
  const padding = new globalThis.Array(8192).fill(0);
  const nothing = () => {};
  const needRoom = () => { apply(nothing, undefined, padding); };

  let refused = null;
  /** Record the use of something refused; the record outlives any `catch` of the author. */
  function deny(what) {
    refused ??= what;
    needRoom();
    try {
      hostDeny(what);
    } catch {
      // At the edge of the stack nothing can be recorded, and nothing was given either.
    }
    throw new TypeError(what + " is not available to benchmark modules");
  }

  /** Ask the host for a pure function of primitives. */
  function pure(operation, a, b, c) {
    let answer;
    needRoom();
    try {
      answer = hostCall(operation, a, b, c);
    } catch {
      answer = undefined;
    }
    if (typeof answer !== "string") throw new RangeError(operation + " failed: too large, or the stack is used up");
    if (charCodeAt(answer, 0) !== 33) return slice(answer, 1);
    const afterName = indexOf(answer, "\n");
    const afterCode = indexOf(answer, "\n", afterName + 1);
    const name = slice(answer, 1, afterName);
    const error = new (name === "TypeError" ? TypeError : name === "RangeError" ? RangeError : Error)(slice(answer, afterCode + 1));
    const code = slice(answer, afterName + 1, afterCode);
    if (code !== "") error.code = code;
    throw error;
  }

  // ---- what is gone, what is locked, what is denied ----------------------------------------------------------------

  // Shared memory, collection of garbage, compiled code and the clock of Temporal would let the machine show.
  for (const name of ["WebAssembly", "SharedArrayBuffer", "Atomics", "WeakRef", "FinalizationRegistry", "Temporal", "ShadowRealm"]) {
    delete globals[name];
  }

  locked(Error, "stackTraceLimit", stackTraceLimit);
  locked(Error, "prepareStackTrace", undefined);
  locked(globals, "Error", Error);
  // The host waits for a module's promise: a patched `then` would be handed what the host passes to it.
  locked(globals, "Promise", Promise);
  freeze(Promise);
  freeze(Promise.prototype);

  const denials = {
    random() { return deny("Math.random()"); },
    now() { return deny("Date.now()"); },
    eval() { return deny("eval()"); },
    setInterval() { return deny("setInterval()"); },
  };
  hidden(Math, "random", denials.random);
  hidden(globals, "eval", denials.eval);

  const asyncFunction = async function () {};
  const generatorFunction = function* () {};
  const asyncGeneratorFunction = async function* () {};
  for (const [name, sample] of [
    ["Function", denyNothing], ["AsyncFunction", asyncFunction],
    ["GeneratorFunction", generatorFunction], ["AsyncGeneratorFunction", asyncGeneratorFunction],
  ]) {
    const prototype = getPrototypeOf(sample);
    const denial = { [name]: function () { return deny("code from strings (" + name + ")"); } }[name];
    locked(denial, "prototype", prototype);
    hidden(prototype, "constructor", denial);
    if (name === "Function") hidden(globals, "Function", denial);
    else setPrototypeOf(denial, globals.Function);
  }
  function denyNothing() {}

  // Date with arguments is data; without, it is the clock.
  const PureDate = function Date(...parts) {
    if (new.target === undefined) return deny("Date() called as a function");
    if (parts.length === 0) return deny("new Date() without arguments");
    return construct(RealDate, parts, new.target === PureDate ? RealDate : new.target);
  };
  locked(PureDate, "prototype", RealDate.prototype);
  defineProperty(PureDate, "length", { __proto__: null, value: 7 });
  hidden(PureDate, "parse", RealDate.parse);
  hidden(PureDate, "UTC", RealDate.UTC);
  hidden(PureDate, "now", denials.now);
  hidden(RealDate.prototype, "constructor", PureDate);
  hidden(globals, "Date", PureDate);

  // The formats of a missing date are the clock again.
  const formatPrototype = Intl.DateTimeFormat.prototype;
  const boundFormat = uncurry(getOwnPropertyDescriptor(formatPrototype, "format").get);
  const formatToParts = uncurry(formatPrototype.formatToParts);
  defineProperty(formatPrototype, "format", {
    __proto__: null,
    enumerable: false,
    configurable: true,
    get: { get format() {
      const real = boundFormat(this);
      return (date) => (date === undefined ? deny("Intl.DateTimeFormat.format() without a date") : real(date));
    } }.__lookupGetter__("format"),
  });
  hidden(formatPrototype, "formatToParts", {
    formatToParts(date) {
      return date === undefined ? deny("Intl.DateTimeFormat.formatToParts() without a date") : formatToParts(this, date);
    },
  }.formatToParts);

  // ---- what Node offers beside the language -------------------------------------------------------------------------

  /** One line for `console`; a value that resists is shown as its type. */
  function shown(value) {
    if (typeof value === "string") return value;
    try {
      if (typeof value === "object" && value !== null) return value instanceof Error ? describe(value) : stringify(value) ?? typeof value;
      return String(value);
    } catch {
      return typeof value;
    }
  }
  function print(...values) {
    let line = "";
    for (let i = 0; i < values.length; i++) line += (i ? " " : "") + shown(values[i]);
    try {
      hostCall("console", slice(line, 0, 4096));
    } catch {
      // Diagnostics only.
    }
  }
  const quiet = () => {};
  const console = {};
  for (const name of ["log", "info", "debug", "warn", "error", "trace", "dir", "table"]) console[name] = print;
  for (const name of ["group", "groupCollapsed", "groupEnd", "time", "timeEnd", "timeLog", "count", "countReset", "clear"]) console[name] = quiet;
  console.assert = (condition, ...values) => { if (!condition) print("Assertion failed:", ...values); };
  hidden(globals, "console", console);

  // Timers keep order and nothing else: a delay would ask how much time has passed.
  let firstTimer = null;
  let lastTimer = null;
  let timerCount = 0;
  function later(name, callback, delay, values) {
    if (typeof callback !== "function") throw new TypeError("The callback of " + name + " must be a function");
    const milliseconds = +delay;
    if (milliseconds > 0) return deny(name + "() with a delay of " + milliseconds + " ms");
    const timer = { __proto__: null, id: ++timerCount, callback, values, next: null };
    if (lastTimer === null) firstTimer = timer;
    else lastTimer.next = timer;
    lastTimer = timer;
    return timer.id;
  }
  function cancel(id) {
    for (let timer = firstTimer; timer !== null; timer = timer.next) if (timer.id === id) timer.callback = null;
  }
  /** Run the oldest timer that waits; whether there was one. */
  function tick() {
    while (firstTimer !== null) {
      const { callback, values, next } = firstTimer;
      firstTimer = next;
      if (next === null) lastTimer = null;
      if (callback === null) continue;
      try {
        apply(callback, undefined, values);
      } catch (error) {
        if (calls === null) fail("threw", error);
        else failed("threw in a timer: " + describe(error));
      }
      return true;
    }
    return false;
  }
  const timers = {
    setTimeout(callback, delay = 0, ...values) { return later("setTimeout", callback, delay, values); },
    setImmediate(callback, ...values) { return later("setImmediate", callback, 0, values); },
    clearTimeout(id) { cancel(id); },
    clearImmediate(id) { cancel(id); },
    clearInterval(id) { cancel(id); },
    queueMicrotask(callback) {
      if (typeof callback !== "function") throw new TypeError("The callback of queueMicrotask must be a function");
      then(resolved, () => { callback(); });
    },
    setInterval: denials.setInterval,
  };
  for (const name of ["setTimeout", "setImmediate", "setInterval", "clearTimeout", "clearImmediate", "clearInterval", "queueMicrotask"]) {
    hidden(globals, name, timers[name]);
  }

  // The larger parts are made when first asked for: most modules never do.
  function part(name) {
    let made;
    needRoom();
    try {
      made = load(name);
    } catch {
      made = undefined;
    }
    if (typeof made !== "function") throw new RangeError("the stack is used up");
    return made;
  }
  let builtins = null;
  function library() {
    if (builtins !== null) return builtins;
    builtins = part("builtins")(pure, deny, isProxy, part("buffer"));
    return builtins;
  }
  for (const name of ["Buffer", "TextEncoder", "TextDecoder", "URL", "URLSearchParams", "structuredClone", "atob", "btoa"]) {
    defineProperty(globals, name, {
      __proto__: null,
      enumerable: false,
      configurable: true,
      get() { const value = library().globals[name]; hidden(globals, name, value); return value; },
      set(value) { hidden(globals, name, value); },
    });
  }

  // ---- writing results ----------------------------------------------------------------------------------------------

  const MAX_DEPTH = 64;
  const MAX_VALUES = 10_000_000;
  let valuesLeft = MAX_VALUES;

  const KINDS = [
    [RealDate.prototype, "a Date"], [Map.prototype, "a Map"], [Set.prototype, "a Set"], [RegExp.prototype, "a RegExp"],
    [Promise.prototype, "a promise (is an await missing?)"], [String.prototype, "a String object"],
    [Number.prototype, "a Number object"], [globals.Boolean.prototype, "a Boolean object"],
    [globals.ArrayBuffer.prototype, "an ArrayBuffer"], [globals.Symbol.prototype, "a Symbol object"],
  ];
  const typedArrayPrototype = getPrototypeOf(globals.Uint8Array.prototype);

  function kindOf(value, prototype) {
    for (let up = prototype, steps = 0; up !== null && steps < 20 && !isProxy(up); up = getPrototypeOf(up), steps++) {
      for (let i = 0; i < KINDS.length; i++) if (KINDS[i][0] === up) return KINDS[i][1];
      if (up === Error.prototype) return "an Error";
      if (up === typedArrayPrototype) return "a typed array or Buffer";
      if (up === ArrayPrototype) return "an instance of a subclass of Array";
    }
    return "an instance of a class";
  }

  const fault = (why, limit) => ({ __proto__: null, pointer: "", why, limit: limit === true });
  function under(key, inner) {
    const part = typeof key === "number" ? key : replaceAll(replaceAll(toWellFormed(slice(key, 0, 200)), "~", "~0"), "/", "~1");
    inner.pointer = "/" + part + inner.pointer;
    return inner;
  }

  /** The first reason why `value` is no JSON, or null. With `functions` true a function is data that gets listed. */
  function check(value, depth, functions) {
    switch (typeof value) {
      case "string":
        return isWellFormed(value) ? null : fault("a string with a lone surrogate (half of a character), which UTF-8 cannot write; was text cut by UTF-16 units?");
      case "number":
        return value - value === 0 ? null : fault(value !== value ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
      case "boolean":
        return null;
      case "object":
        if (value === null) return null;
        break;
      case "function":
        return functions ? null : fault("a function");
      case "undefined":
        return fault("undefined");
      case "bigint":
        return fault("a BigInt");
      default:
        return fault("a symbol");
    }
    if (isProxy(value)) return fault("a Proxy");
    if (depth >= MAX_DEPTH) return fault("a value nested deeper than " + MAX_DEPTH + " levels, or a cycle");
    if (--valuesLeft < 0) return fault("more than " + MAX_VALUES + " values", true);
    return isArray(value) ? checkArray(value, depth, functions) : checkObject(value, depth, functions);
  }

  function checkArray(value, depth, functions) {
    if (getPrototypeOf(value) !== ArrayPrototype) return fault(kindOf(value, getPrototypeOf(value)));
    const { length } = value;
    if ((valuesLeft -= length) < 0) return fault("more than " + MAX_VALUES + " values", true);
    for (let i = 0; i < length; i++) {
      const property = getOwnPropertyDescriptor(value, i);
      if (property === undefined) return under(i, fault("a hole in an array"));
      if (!hasOwn(property, "value")) return under(i, fault("an accessor"));
      const inner = check(property.value, depth + 1, functions);
      if (inner !== null) return under(i, inner);
    }
    const keys = ownKeys(value);
    if (keys.length === length + 1) return null;
    for (let i = 0; i < keys.length; i++) {
      if (typeof keys[i] === "symbol") return fault("an array with a symbol as key");
      if (keys[i] !== "length" && !(keys[i] >>> 0 < length && String(keys[i] >>> 0) === keys[i])) return under(keys[i], fault("a named property of an array"));
    }
    return fault("an array with extra properties");
  }

  function checkObject(value, depth, functions) {
    const prototype = getPrototypeOf(value);
    if (prototype !== ObjectPrototype && prototype !== null) return fault(kindOf(value, prototype));
    const keys = ownKeys(value);
    const { length } = keys;
    if ((valuesLeft -= length) < 0) return fault("more than " + MAX_VALUES + " values", true);
    for (let i = 0; i < length; i++) {
      const key = keys[i];
      if (typeof key === "symbol") return fault("an object with a symbol as key");
      if (key === "__proto__") return under(key, fault("a key __proto__"));
      const property = getOwnPropertyDescriptor(value, key);
      if (!hasOwn(property, "value")) return under(key, fault("an accessor (getter or setter)"));
      if (property.enumerable !== true) return under(key, fault("a property that is not enumerable"));
      if (property.value === undefined) continue; // dropped, as JSON.stringify does
      if (!isWellFormed(key)) return under(key, fault("a key with a lone surrogate"));
      const inner = check(property.value, depth + 1, functions);
      if (inner !== null) return under(key, inner);
    }
    return null;
  }

  /** The text of a checked value. Nothing of the author runs: no proxies, no accessors, no `toJSON` in reach. */
  function textOf(value) {
    if (has(ObjectPrototype, "toJSON") || has(ArrayPrototype, "toJSON")) return undefined;
    return stringify(value);
  }

  /** The text of a checked value in which functions stand as null; `seen` gets the pointer of each. */
  function textWithFunctions(value, pointer, seen) {
    if (typeof value === "function") {
      seen(pointer);
      return "null";
    }
    if (typeof value !== "object" || value === null) return stringify(value);
    let text = "";
    if (isArray(value)) {
      const { length } = value;
      for (let i = 0; i < length; i++) text += (i ? "," : "") + textWithFunctions(value[i], pointer + "/" + i, seen);
      return "[" + text + "]";
    }
    const keys = ownKeys(value);
    const { length } = keys;
    for (let i = 0; i < length; i++) {
      const key = keys[i];
      if (value[key] === undefined) continue;
      const inner = textWithFunctions(value[key], pointer + "/" + replaceAll(replaceAll(key, "~", "~0"), "/", "~1"), seen);
      text += (text === "" ? "" : ",") + stringify(key) + ":" + inner;
    }
    return "{" + text + "}";
  }

  // ---- what happened, as primitives -----------------------------------------------------------------------------------

  /** A thrown value in words. Its own code may run here, and may throw again. */
  function describe(error) {
    let text;
    try {
      if (typeof error === "object" && error !== null) {
        const { message, name } = error;
        if (typeof message === "string") text = (typeof name === "string" && name !== "" ? name + ": " : "") + message;
      } else if (typeof error === "string") {
        text = "the string " + stringify(toWellFormed(slice(error, 0, 2000)));
      } else {
        text = String(error);
      }
    } catch {
      text = undefined;
    }
    return toWellFormed(slice(text ?? "a value without a readable message", 0, 2000));
  }
  function stackOf(error) {
    try {
      const { stack } = error;
      return typeof stack === "string" ? toWellFormed(slice(stack, 0, 8000)) : "";
    } catch {
      return "";
    }
  }

  // `outcome` is JSON text once the run has ended.
  let outcome = null;
  function finish(fields) {
    outcome ??= stringify(fields);
  }
  function fail(status, error) {
    finish({ __proto__: null, status, message: describe(error), stack: stackOf(error) });
  }
  function refuse(inner, prefix) {
    finish({ __proto__: null, status: inner.limit ? "limit" : "invalid", pointer: prefix + inner.pointer, message: inner.why });
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
      const module = namespace.default;
      if (typeof module !== "object" || module === null) return invalid("the default export must be an object { name, transform }, got " + typeof module);
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
    if (isProxy(cases) || !isArray(cases) || getPrototypeOf(cases) !== ArrayPrototype) return invalid("transform() must return an array of cases, got " + (cases === null ? "null" : typeof cases));
    const { length } = cases;
    if (length === 0) return invalid("transform() returned no cases");
    if (length > MAX_CASES) return invalid("transform() returned " + length + " cases; a release holds " + MAX_CASES + " at most");
    let text = "";
    for (let i = 0; i < length; i++) {
      const property = getOwnPropertyDescriptor(cases, i);
      if (property === undefined) return refuse(fault("a hole in the array of cases"), "/" + i);
      if (!hasOwn(property, "value")) return refuse(fault("an accessor"), "/" + i);
      const item = property.value;
      const inner = typeof item !== "object" || item === null || isArray(item) ? fault("a case must be an object") : check(item, 0, false);
      if (inner !== null) return refuse(inner, "/" + i);
      const line = textOf(item);
      if (line === undefined) return invalid("Object.prototype or Array.prototype has a toJSON");
      text += line + "\n";
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
      valuesLeft = MAX_VALUES;
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
        value = value === null || value === undefined || !has(Object(value), part) ? undefined : value[part];
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
    refused = null;
    firstTimer = lastTimer = null;
    timerCount = 0;
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
    outcome = refused === null ? text : stringify({ __proto__: null, failure: refused + " is not available to benchmark modules" });
  }
  const failed = (why) => put(stringify({ __proto__: null, failure: why }));

  function judge(verdict) {
    try {
      const wrong = (why) => failed("wrong shape: " + why);
      if (typeof verdict !== "object" || verdict === null || isArray(verdict)) return wrong("a verdict must be an object { passed, score, message }, got " + (verdict === null ? "null" : isArray(verdict) ? "an array" : typeof verdict));
      valuesLeft = MAX_VALUES;
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

  return freeze({
    __proto__: null,
    source, batch, grade, tick,
    json: (text) => parse(text),
    builtin: (name) => library().module(name),
    describe,
    failed,
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
