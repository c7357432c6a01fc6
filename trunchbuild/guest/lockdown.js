// Makes a realm unable to keep anything from one call of an evaluator to the next: every intrinsic and every shared
// object of the library is frozen, the global object takes no new members. Module instances are new for every call.
//
// Freezing a prototype makes `object.name = ...` fail on everything that inherits the name (the "override mistake" of
// ECMA-262, OrdinarySetWithOwnDescriptor). Where code commonly assigns, the member becomes an accessor whose setter
// defines it on the object assigned to. What still fails throws, and a call that throws is graded again in a fresh,
// unfrozen realm: a gap here costs time and never a wrong verdict.
(function lockdown(roots) {
  "use strict";

  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, preventExtensions } = Reflect;
  const { freeze, hasOwn } = Object;

  const overridden = new Map([
    [Object.prototype, null],
    [Error.prototype, null],
    [Function.prototype, ["constructor", "bind", "toString"]],
    [Array.prototype, ["constructor", "toString", "concat", "push", "length"]],
    [Promise.prototype, []],
  ]);
  for (const kind of [AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, SuppressedError]) {
    overridden.set(kind.prototype, null);
  }
  const usual = ["constructor", "toString", "valueOf", "toJSON", "name", "message"];

  function enable(object, key, { value, enumerable }) {
    defineProperty(object, key, {
      __proto__: null,
      enumerable,
      configurable: false,
      get() { return value; },
      set(given) {
        if (this === object) throw new TypeError(`Cannot assign to ${String(key)} of an intrinsic object`);
        if (hasOwn(this, key)) this[key] = given;
        else defineProperty(this, key, { __proto__: null, value: given, writable: true, enumerable: true, configurable: true });
      },
    });
  }

  const seen = new Set();
  const waiting = [];
  const add = (value) => {
    if ((typeof value === "object" || typeof value === "function") && value !== null && !seen.has(value)) {
      seen.add(value);
      waiting.push(value);
    }
  };
  // Reachable by syntax alone.
  const samples = [
    function () {}, async function () {}, function* () {}, async function* () {}, () => {},
    [][Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), ""[Symbol.iterator](),
    "".matchAll(/x/g), new Intl.Segmenter().segment("")[Symbol.iterator](), [].values().map(() => {}), Iterator.from({ next() {} }),
    (function* () {})(), (async function* () {})(),
  ];
  for (const sample of samples) add(getPrototypeOf(sample));
  add(globalThis);
  for (const root of roots) add(root);

  for (let object = waiting.pop(); object !== undefined; object = waiting.pop()) {
    add(getPrototypeOf(object));
    for (const key of ownKeys(object)) {
      const property = getOwnPropertyDescriptor(object, key);
      add(property.value);
      add(property.get);
      add(property.set);
    }
  }
  // The statics of the last match are memory.
  for (const key of ownKeys(RegExp)) {
    const property = getOwnPropertyDescriptor(RegExp, key);
    if (property.get !== undefined && typeof key === "string") delete RegExp[key];
  }
  for (const object of seen) {
    if (object === globalThis) continue;
    const names = overridden.has(object) ? overridden.get(object) : hasOwn(object, "constructor") ? usual : [];
    for (const key of ownKeys(object)) {
      const property = getOwnPropertyDescriptor(object, key);
      const assigned = names === null || names.includes(key);
      if (assigned && property.configurable && property.writable) enable(object, key, property);
    }
    // Typed arrays with elements cannot be frozen; none is shared.
    if (!ArrayBuffer.isView(object)) freeze(object);
  }
  for (const key of ownKeys(globalThis)) {
    const property = getOwnPropertyDescriptor(globalThis, key);
    if (property.configurable) defineProperty(globalThis, key, { __proto__: null, configurable: false, ...("value" in property ? { writable: false } : {}) });
  }
  preventExtensions(globalThis);
})
