// Buffer for a realm, in its own classes. Whatever needs a table or a codec is asked of the host as a pure function of
// strings; bytes travel as latin1 text.
(function bufferLibrary(pure) {
  "use strict";

  const CHUNK = 8192;

  /** Bytes as latin1 text. */
  function latin1Of(bytes) {
    let text = "";
    for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode.apply(null, bytes.subarray(at, at + CHUNK));
    return text;
  }

  function fillFrom(bytes, latin1) {
    for (let at = 0; at < latin1.length; at++) bytes[at] = latin1.charCodeAt(at);
    return bytes;
  }

  const ENCODINGS = {
    __proto__: null,
    utf8: "utf8", "utf-8": "utf8", ucs2: "utf16le", "ucs-2": "utf16le", utf16le: "utf16le", "utf-16le": "utf16le",
    latin1: "latin1", binary: "latin1", base64: "base64", base64url: "base64url", hex: "hex", ascii: "ascii",
  };

  /** An error as Node's JavaScript makes it: as text it shows its code (those of its C++ do not). */
  function withCode(error, code) {
    Object.defineProperty(error, "toString", {
      value() { return `${this.name} [${code}]: ${this.message}`; },
      writable: true, enumerable: false, configurable: true,
    });
    error.code = code;
    return error;
  }

  function encodingOf(encoding) {
    if (encoding === undefined || encoding === null || encoding === "") return "utf8";
    const name = ENCODINGS[String(encoding).toLowerCase()];
    if (name === undefined) throw withCode(new TypeError("Unknown encoding: " + String(encoding)), "ERR_UNKNOWN_ENCODING");
    return name;
  }

  const NOT_ASCII = /[^\x00-\x7f]/;
  /** Text in an encoding, as bytes. Plain ASCII needs nobody's help. */
  function encode(text, encoding) {
    const name = encodingOf(encoding);
    return (name === "utf8" || name === "latin1" || name === "ascii") && !NOT_ASCII.test(text) ? text : pure("encode", text, name);
  }

  const DIGITS = Array.from({ length: 256 }, (_, byte) => (byte < 16 ? "0" : "") + byte.toString(16));
  function hexOf(latin1) {
    let text = "";
    for (let at = 0; at < latin1.length; at++) text += DIGITS[latin1.charCodeAt(at)];
    return text;
  }

  const isBytes = (value) => ArrayBuffer.isView(value) && !(value instanceof DataView);
  const viewOf = (value) =>
    value instanceof Uint8Array ? value
      : ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
        : new Uint8Array(value);

  function wrongType(name, expected, value) {
    return withCode(new TypeError(`The "${name}" argument must be ${expected}. Received ${received(value)}`), "ERR_INVALID_ARG_TYPE");
  }
  /** A value in the words of Node's messages. */
  function received(value) {
    if (value === null || value === undefined) return String(value);
    if (typeof value === "function") return `function ${value.name}`;
    if (typeof value === "object") return value.constructor?.name ? `an instance of ${value.constructor.name}` : "an object";
    const text = typeof value === "string" ? `'${value.length > 28 ? `${value.slice(0, 25)}...` : value}'` : typeof value === "bigint" ? `${value}n` : String(value);
    return `type ${typeof value} (${text})`;
  }
  function outOfRange(name, range, value) {
    let shown = String(value);
    const large = typeof value === "bigint" ? value > 2n ** 32n || value < -(2n ** 32n) : Number.isInteger(value) && Math.abs(value) > 2 ** 32;
    if (large) shown = shown.replace(/\B(?=(\d{3})+$)/g, "_");
    return withCode(new RangeError(`The value of "${name}" is out of range. It must be ${range}. Received ${shown}${typeof value === "bigint" ? "n" : ""}`), "ERR_OUT_OF_RANGE");
  }
  function size(value, name = "size") {
    if (typeof value !== "number") throw wrongType(name, "of type number", value);
    if (!(value >= 0 && value <= 0x1fffffffffffff)) throw outOfRange(name, ">= 0 && <= 9007199254740991", value);
    return value;
  }

  class Buffer extends Uint8Array {
    constructor(value, second, length) {
      if (typeof value === "string") {
        const latin1 = encode(value, second);
        super(latin1.length);
        fillFrom(this, latin1);
      } else {
        super(value, second, length);
      }
    }

    static from(value, second, length) {
      if (typeof value === "string") return new Buffer(value, second);
      if (typeof value === "object" && value !== null) {
        if (value instanceof ArrayBuffer) return ofMemory(value, second, length);
        if (isBytes(value) || Array.isArray(value)) return copied(value);
        const plain = value.valueOf?.();
        if (plain !== undefined && plain !== null && plain !== value && (typeof plain === "string" || typeof plain === "object")) return Buffer.from(plain, second, length);
        if (value.type === "Buffer" && Array.isArray(value.data)) return copied(value.data);
        if (typeof value.length === "number") return copied(Array.from(value));
        const primitive = value[Symbol.toPrimitive]?.("string");
        if (typeof primitive === "string") return new Buffer(primitive, second);
      }
      throw withCode(new TypeError(`The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received ${received(value)}`), "ERR_INVALID_ARG_TYPE");
    }
    static alloc(length, fill, encoding) {
      const buffer = new Buffer(size(length));
      return fill === undefined || fill === 0 || length === 0 ? buffer : buffer.fill(fill, encoding);
    }
    static allocUnsafe(length) { return new Buffer(size(length)); }
    static allocUnsafeSlow(length) { return new Buffer(size(length)); }
    static byteLength(value, encoding) {
      if (typeof value === "string") return Number(pure("byteLength", value, ENCODINGS[String(encoding).toLowerCase()] ?? "utf8"));
      if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
      throw wrongType("string", "of type string or an instance of Buffer or ArrayBuffer", value);
    }
    static compare(left, right) {
      if (!(left instanceof Uint8Array)) throw wrongType("buf1", "an instance of Buffer or Uint8Array", left);
      if (!(right instanceof Uint8Array)) throw wrongType("buf2", "an instance of Buffer or Uint8Array", right);
      return compared(left, right);
    }
    static concat(list, total) {
      if (!Array.isArray(list)) throw wrongType("list", "an instance of Array", list);
      total ??= list.reduce((sum, part) => sum + (part.length || 0), 0);
      const joined = new Buffer(size(total, "length"));
      let at = 0;
      for (const [index, part] of list.entries()) {
        if (!(part instanceof Uint8Array)) throw wrongType(`list[${index}]`, "an instance of Buffer or Uint8Array", part);
        if (at >= total) continue;
        joined.set(part.subarray(0, total - at), at);
        at += part.length;
      }
      return joined;
    }
    static copyBytesFrom(view, offset = 0, length = view.length - offset) {
      return copied(viewOf(view.subarray(offset, offset + length)));
    }
    static isBuffer(value) { return value instanceof Buffer; }
    static isEncoding(encoding) { return typeof encoding === "string" && ENCODINGS[encoding.toLowerCase()] !== undefined; }

    get parent() { return this.buffer; }
    get offset() { return this.byteOffset; }

    toString(encoding, start = 0, end = this.length) {
      const from = Math.max(0, Math.trunc(start) || 0);
      const to = Math.min(this.length, Math.trunc(end) || 0);
      if (from >= to) return "";
      const bytes = from === 0 && to === this.length ? this : this.subarray(from, to);
      const latin1 = latin1Of(bytes);
      if (encoding === null || encoding === "") throw withCode(new TypeError(`Unknown encoding: ${encoding}`), "ERR_UNKNOWN_ENCODING");
      return decode(latin1, encodingOf(encoding));
    }
    toLocaleString(encoding, start, end) { return this.toString(encoding, start, end); }
    toJSON() { return { type: "Buffer", data: Array.from(this) }; }
    equals(other) {
      if (!(other instanceof Uint8Array)) throw wrongType("otherBuffer", "an instance of Buffer or Uint8Array", other);
      return compared(this, other) === 0;
    }
    compare(target, targetStart = 0, targetEnd = target.length, sourceStart = 0, sourceEnd = this.length) {
      return compared(this.subarray(sourceStart, sourceEnd), viewOf(target).subarray(targetStart, targetEnd));
    }
    slice(start, end) { return this.subarray(start, end); }
    copy(target, targetStart = 0, sourceStart = 0, sourceEnd = this.length) {
      if (!ArrayBuffer.isView(target)) throw wrongType("target", "an instance of Buffer or Uint8Array", target);
      const [to, from, end] = [targetStart, sourceStart, sourceEnd].map((value) => Math.trunc(value) || 0);
      if (to < 0) throw outOfRange("targetStart", ">= 0", to);
      if (from < 0 || from > this.length) throw outOfRange("sourceStart", `>= 0 && <= ${this.length}`, from);
      if (end < 0) throw outOfRange("sourceEnd", ">= 0", end);
      if (to >= target.byteLength || from >= end) return 0;
      const part = this.subarray(from, Math.min(end, from + target.byteLength - to));
      viewOf(target).set(part, to);
      return part.length;
    }
    write(text, offset, length, encoding) {
      if (typeof text !== "string") throw wrongType("string", "of type string", text);
      if (typeof offset === "string") [offset, length, encoding] = [0, this.length, offset];
      else if (typeof length === "string") [length, encoding] = [this.length - (offset ?? 0), length];
      const at = offset ?? 0;
      if (at > this.length) throw outOfRange("offset", `>= 0 && <= ${this.length}`, at);
      const room = Math.min(length ?? this.length - at, this.length - at);
      const name = encodingOf(encoding);
      let latin1 = encode(text, name);
      if (latin1.length > room) {
        latin1 = latin1.slice(0, room);
        // A character that does not fit as a whole is not written.
        if (name === "utf8") latin1 = latin1.slice(0, room - incompleteUtf8(latin1));
        if (name === "utf16le") latin1 = latin1.slice(0, room - (room % 2));
      }
      for (let i = 0; i < latin1.length; i++) this[at + i] = latin1.charCodeAt(i);
      return latin1.length;
    }
    fill(value, start, end, encoding) {
      if (typeof value === "string") {
        if (typeof start === "string") [start, end, encoding] = [0, this.length, start];
        else if (typeof end === "string") [end, encoding] = [this.length, end];
        [start, end] = filling(this, start, end);
        const pattern = encode(value, encoding);
        if (pattern.length === 0 && value.length > 0) throw withCode(new TypeError(`The argument 'value' is invalid. Received '${value}'`), "ERR_INVALID_ARG_VALUE");
        return pattern.length === 0 ? super.fill(0, start, end) : filled(this, fillFrom(new Uint8Array(pattern.length), pattern), start, end);
      }
      [start, end] = filling(this, start, end);
      if (isBytes(value)) return filled(this, viewOf(value), start, end);
      return super.fill(Number(value) & 255, start, end);
    }
    indexOf(value, offset, encoding) { return found(this, value, offset, encoding, false); }
    lastIndexOf(value, offset, encoding) { return found(this, value, offset, encoding, true); }
    includes(value, offset, encoding) { return this.indexOf(value, offset, encoding) !== -1; }
    swap16() { return swapped(this, 2); }
    swap32() { return swapped(this, 4); }
    swap64() { return swapped(this, 8); }
  }
  Object.defineProperty(Buffer, "poolSize", { value: 8192, writable: true, enumerable: true, configurable: true });
  Object.defineProperty(Buffer.prototype, "constructor", { value: Buffer, writable: true, enumerable: false, configurable: true });

  const copied = (values) => {
    const buffer = new Buffer(values.length);
    for (let i = 0; i < values.length; i++) buffer[i] = values[i] & 255;
    return buffer;
  };

  function compared(left, right) {
    const length = Math.min(left.length, right.length);
    for (let i = 0; i < length; i++) if (left[i] !== right[i]) return left[i] < right[i] ? -1 : 1;
    return left.length === right.length ? 0 : left.length < right.length ? -1 : 1;
  }

  /** Part of memory, shared. */
  function ofMemory(memory, start = 0, length) {
    const from = Math.trunc(Number(start)) || 0;
    if (from < 0 || from > memory.byteLength) throw withCode(new RangeError('"offset" is outside of buffer bounds'), "ERR_BUFFER_OUT_OF_BOUNDS");
    if (length === undefined) return new Buffer(memory, from);
    const size = Math.max(0, Math.trunc(Number(length)) || 0);
    if (size > memory.byteLength - from) throw withCode(new RangeError('"length" is outside of buffer bounds'), "ERR_BUFFER_OUT_OF_BOUNDS");
    return new Buffer(memory, from, size);
  }

  const decode = (latin1, name) => (name === "latin1" ? latin1 : name === "hex" && latin1.length <= 64 ? hexOf(latin1) : pure("decode", latin1, name));

  /** The part of a buffer that `fill` is asked to fill. */
  function filling(buffer, start = 0, end = buffer.length) {
    for (const [name, value, most] of [["offset", start, Number.MAX_SAFE_INTEGER], ["end", end, buffer.length]]) {
      if (typeof value !== "number") throw wrongType(name, "of type number", value);
      if (!(value >= 0 && value <= most)) throw outOfRange(name, `>= 0 && <= ${most}`, value);
    }
    return [start, Math.max(start, end)];
  }

  function filled(buffer, pattern, start = 0, end = buffer.length) {
    if (pattern.length === 0) throw withCode(new TypeError("The argument 'value' is invalid"), "ERR_INVALID_ARG_VALUE");
    for (let i = start, at = 0; i < end; i++, at++) buffer[i] = pattern[at % pattern.length];
    return buffer;
  }

  function found(buffer, value, offset, encoding, backwards) {
    if (typeof offset === "string") [offset, encoding] = [undefined, offset];
    let needle;
    if (typeof value === "number") needle = [value & 255];
    else if (typeof value === "string") needle = new Buffer(value, encoding);
    else if (value instanceof Uint8Array) needle = value;
    else throw wrongType("value", "one of type number or string or an instance of Buffer or Uint8Array", value);
    const last = buffer.length - needle.length;
    let at = Math.trunc(Number(offset));
    if (Number.isNaN(at)) at = backwards ? buffer.length : 0;
    if (at < 0) at = Math.max(at + buffer.length, backwards ? -1 : 0);
    if (needle.length === 0) return Math.min(at, buffer.length);
    const step = backwards ? -1 : 1;
    for (let from = backwards ? Math.min(at, last) : at; from >= 0 && from <= last; from += step) {
      let i = 0;
      while (i < needle.length && buffer[from + i] === needle[i]) i++;
      if (i === needle.length) return from;
    }
    return -1;
  }

  function swapped(buffer, width) {
    if (buffer.length % width) throw withCode(new RangeError(`Buffer size must be a multiple of ${width * 8}-bits`), "ERR_INVALID_BUFFER_SIZE");
    for (let at = 0; at < buffer.length; at += width) buffer.subarray(at, at + width).reverse();
    return buffer;
  }

  // read*/write* for every fixed width, by DataView, which checks the range of offsets.
  const at = (buffer) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  function checkedOffset(buffer, offset, width) {
    if (typeof offset !== "number") throw wrongType("offset", "of type number", offset);
    if (Math.floor(offset) !== offset) throw outOfRange("offset", "an integer", offset);
    if (buffer.length < width) throw withCode(new RangeError("Attempt to access memory outside buffer bounds"), "ERR_BUFFER_OUT_OF_BOUNDS");
    if (!(offset >= 0 && offset + width <= buffer.length)) throw outOfRange("offset", `>= 0 and <= ${buffer.length - width}`, offset);
    return offset;
  }
  /** A value between two bounds, in the words that Node has for each width. */
  function checkedValue(value, low, high, width) {
    if (!(value < low || value > high)) return value;
    const n = typeof low === "bigint" ? "n" : "";
    if (width <= 4) throw outOfRange("value", `>= ${low}${n} and <= ${high}${n}`, value);
    const bits = low < 0 ? width * 8 - 1 : width * 8;
    throw outOfRange("value", `>= ${low < 0 ? `-(2${n} ** ${bits}${n})` : `0${n}`} and < 2${n} ** ${bits}${n}`, value);
  }
  function checkedWidth(width) {
    if (typeof width !== "number") throw wrongType("byteLength", "of type number", width);
    if (Math.floor(width) !== width) throw outOfRange("byteLength", "an integer", width);
    if (!(width >= 1 && width <= 6)) throw outOfRange("byteLength", ">= 1 and <= 6", width);
    return width;
  }
  const method = (name, value) => Object.defineProperty(Buffer.prototype, name, { value, writable: true, enumerable: false, configurable: true });
  for (const [name, view, width, low, high] of [
    ["UInt8", "Uint8", 1, 0, 255], ["Int8", "Int8", 1, -128, 127],
    ["UInt16", "Uint16", 2, 0, 65535], ["Int16", "Int16", 2, -32768, 32767],
    ["UInt32", "Uint32", 4, 0, 4294967295], ["Int32", "Int32", 4, -2147483648, 2147483647],
    ["Float", "Float32", 4], ["Double", "Float64", 8],
    ["BigUInt64", "BigUint64", 8, 0n, 18446744073709551615n], ["BigInt64", "BigInt64", 8, -9223372036854775808n, 9223372036854775807n],
  ]) {
    for (const order of width === 1 ? [""] : ["LE", "BE"]) {
      const read = { [`read${name}${order}`](offset = 0) { return at(this)[`get${view}`](checkedOffset(this, offset, width), order === "LE"); } }[`read${name}${order}`];
      const write = { [`write${name}${order}`](value, offset = 0) {
        if (typeof low === "bigint" && typeof value !== "bigint") throw new TypeError("Cannot mix BigInt and other types, use explicit conversions");
        const given = typeof low === "bigint" ? value : +value;
        if (low !== undefined) checkedValue(given, low, high, width);
        at(this)[`set${view}`](checkedOffset(this, offset, width), given, order === "LE");
        return offset + width;
      } }[`write${name}${order}`];
      for (const alias of new Set([name, name.replace("UInt", "Uint")])) {
        method(`read${alias}${order}`, read);
        method(`write${alias}${order}`, write);
      }
    }
  }
  for (const signed of [false, true]) {
    for (const order of ["LE", "BE"]) {
      const name = `${signed ? "Int" : "UInt"}${order}`;
      const read = function (offset, width) {
        if (offset === undefined) throw wrongType("offset", "of type number", offset);
        checkedOffset(this, offset, checkedWidth(width));
        let value = 0n;
        for (let i = 0; i < width; i++) value = value * 256n + BigInt(this[offset + (order === "BE" ? i : width - 1 - i)]);
        return Number(signed ? BigInt.asIntN(width * 8, value) : value);
      };
      const write = function (value, offset, width) {
        checkedWidth(width);
        const most = 2 ** (signed ? width * 8 - 1 : width * 8);
        const given = checkedValue(+value, signed ? -most : 0, most - 1, width);
        checkedOffset(this, offset, width);
        let rest = BigInt.asUintN(width * 8, BigInt(Math.trunc(given) || 0));
        for (let i = 0; i < width; i++, rest >>= 8n) this[offset + (order === "LE" ? i : width - 1 - i)] = Number(rest & 255n);
        return offset + width;
      };
      for (const alias of new Set([name, name.replace("UInt", "Uint")])) {
        method(`read${alias}`, read);
        method(`write${alias}`, write);
      }
    }
  }

  /** How many bytes at the end of latin1 text begin a UTF-8 character that is not complete. */
  function incompleteUtf8(latin1) {
    for (let back = 1; back <= 3 && back <= latin1.length; back++) {
      const byte = latin1.charCodeAt(latin1.length - back);
      if (byte < 0x80) return 0;
      if (byte >= 0xf8) return 0;
      if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? back : 0;
    }
    return 0;
  }

  return {
    __proto__: null, Buffer, ENCODINGS, encode, encodingOf, fillFrom, hexOf, incompleteUtf8, latin1Of, viewOf, withCode, wrongType,
  };
})
