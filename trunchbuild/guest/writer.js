// Writes results as JSON text, and says what keeps a value from being JSON. Everything used is captured before the author's
// code runs; nothing of the author's runs here, but for the getters of what was thrown.
(function writer(isProxy) {
  "use strict";

  const { getOwnPropertyDescriptor, getPrototypeOf, has, ownKeys } = Reflect;
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const { hasOwn } = Object;
  const { isArray } = Array;
  const { isRawJSON, stringify } = JSON;
  const isWellFormed = uncurry(String.prototype.isWellFormed);
  const toWellFormed = uncurry(String.prototype.toWellFormed);
  const slice = uncurry(String.prototype.slice);
  const replaceAll = uncurry(String.prototype.replaceAll);
  const globals = globalThis;
  const { Date, Error, Map, Number, Promise, RegExp, Set, String: Text } = globals;
  const ObjectPrototype = Object.prototype;
  const ArrayPrototype = Array.prototype;

  const MAX_DEPTH = 64;
  const MAX_VALUES = 10_000_000;
  let valuesLeft = MAX_VALUES;

  const KINDS = [
    [Date.prototype, "a Date"], [Map.prototype, "a Map"], [Set.prototype, "a Set"], [RegExp.prototype, "a RegExp"],
    [Promise.prototype, "a promise (is an await missing?)"], [Text.prototype, "a String object"],
    [getPrototypeOf(getPrototypeOf(async function* () {}.prototype)), "an asynchronous generator (Array.fromAsync() makes an array of it)"],
    [getPrototypeOf(getPrototypeOf([][Symbol.iterator]())), "an iterator or generator (write `[...it]`)"],
    [globals.BigInt.prototype, "a BigInt object"], [globals.DataView.prototype, "a DataView"],
    [globals.WeakMap.prototype, "a WeakMap"], [globals.WeakSet.prototype, "a WeakSet"],
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

  const fault = (why, limit) => ({ __proto__: null, pointer: "", why, limit: limit === true, deepest: undefined, loop: "" });
  /** A value beyond the greatest depth: if it is also one of those around it, the way back up finds that out. */
  function tooDeep(value) {
    const inner = fault("a value nested deeper than " + MAX_DEPTH + " levels");
    inner.deepest = value;
    return inner;
  }
  /** On the way up from a fault inside `value`: where a cycle closes, the pointer is that of its outermost object. */
  function around(value, inner) {
    if (inner === null || inner.deepest !== value) return inner;
    if (inner.loop === "") {
      inner.loop = inner.pointer;
      inner.why = "a cycle (its " + inner.loop + " is itself)";
    }
    inner.pointer = "";
    return inner;
  }
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
    if (depth >= MAX_DEPTH) return tooDeep(value);
    if (--valuesLeft < 0) return fault("more than " + MAX_VALUES + " values", true);
    return around(value, isArray(value) ? checkArray(value, depth, functions) : checkObject(value, depth, functions));
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
      if (keys[i] !== "length" && !(keys[i] >>> 0 < length && Text(keys[i] >>> 0) === keys[i])) return under(keys[i], fault("a named property of an array"));
    }
    return fault("an array with extra properties");
  }

  function checkObject(value, depth, functions) {
    const prototype = getPrototypeOf(value);
    if (prototype !== ObjectPrototype && prototype !== null) return fault(kindOf(value, prototype));
    if (prototype === null && isRawJSON(value)) return fault("text of JSON.rawJSON, which nobody has checked");
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

  // ---- what was thrown, as text ---------------------------------------------------------------------------------------

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
        text = Text(error);
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

  /** What stands where a plain array, or a value of another kind, should. */
  function named(value) {
    if (value === null) return "null";
    if (typeof value !== "object") return typeof value;
    if (isProxy(value)) return "a Proxy";
    const prototype = getPrototypeOf(value);
    if (prototype === ObjectPrototype || prototype === null) return "a plain object";
    return prototype === ArrayPrototype ? "an array" : kindOf(value, prototype);
  }

  return {
    __proto__: null, check, describe, named, fault, isWellFormed, stackOf, textOf, textWithFunctions,
    /** Allow the next result as many values as the first. */
    renew: () => { valuesLeft = MAX_VALUES; },
  };
})
