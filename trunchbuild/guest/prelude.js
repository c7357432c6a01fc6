// Runs inside a fresh realm before any code of the author, and returns the driver that `run.mjs` speaks to.
//
// The sandbox is the wall; this file is for determinism and for messages. Two rules keep host objects out of the realm:
// - the host's functions live in closures here, get primitives (`isProxy` alone gets a value, and never touches it) and
//   give primitives; whatever they throw is dropped, since even a RangeError at the edge of the stack is a host object;
// - the host hands in primitives only, and reads nothing but primitives back.
// Everything used after start-up is captured now: the author may change any intrinsic that is not locked below.
(function boot(hostDeny, hostCall, isProxyOfHost, load, stackTraceLimit) {
  "use strict";

  const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const uncurry = globalThis.Function.prototype.bind.bind(globalThis.Function.prototype.call);
  const { freeze, setPrototypeOf } = Object;
  const { stringify } = JSON;
  const slice = uncurry(globalThis.String.prototype.slice);
  const charCodeAt = uncurry(globalThis.String.prototype.charCodeAt);
  const indexOf = uncurry(globalThis.String.prototype.indexOf);
  const then = uncurry(globalThis.Promise.prototype.then);
  const globals = globalThis;
  const { Date: RealDate, Error, Intl, Math, Promise, RangeError, String, TypeError, URIError } = globals;
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
    const Kind = name === "TypeError" ? TypeError : name === "RangeError" ? RangeError : name === "URIError" ? URIError : Error;
    const error = new Kind(slice(answer, afterCode + 1));
    const code = slice(answer, afterName + 1, afterCode);
    if (code === "") throw error;
    // A space before the code: Node's own JavaScript made the error, whose text shows the code.
    if (code[0] !== " ") error.code = code;
    else {
      error.code = slice(code, 1);
      hidden(error, "toString", { toString() { return this.name + " [" + slice(code, 1) + "]: " + this.message; } }.toString);
    }
    throw error;
  }

  /** One of the guest's other files, as the function that it holds. */
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
    defineProperty(denial, "length", { __proto__: null, value: 1 });
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

  const writer = part("writer")(isProxy);
  const { describe } = writer;

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
  /** Where an error goes that no code of the author can catch; Node ends a process with it. */
  let onUncaught = () => {};
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
        onUncaught(error);
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
      then(resolved, () => {
        try {
          callback();
        } catch (error) {
          onUncaught(error);
        }
      });
    },
    setInterval: denials.setInterval,
  };
  for (const name of ["setTimeout", "setImmediate", "setInterval", "clearTimeout", "clearImmediate", "clearInterval", "queueMicrotask"]) {
    hidden(globals, name, timers[name]);
  }

  // The larger parts are made when first asked for: most modules never do.
  let builtins = null;
  function library() {
    if (builtins !== null) return builtins;
    builtins = part("builtins")(pure, deny, isProxy, part);
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

  return part("driver")({
    __proto__: null, isProxy, pure, writer, library, part,
    timers: { __proto__: null, tick, onUncaught(report) { onUncaught = report; }, reset() { firstTimer = lastTimer = null; timerCount = 0; } },
    refusal: { __proto__: null, what: () => refused, forget() { refused = null; } },
  });
})
