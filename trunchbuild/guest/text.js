// Text encoders and decoders, `node:string_decoder` and the members of `node:buffer` that are not Buffer, for a realm.
(function textLibrary(pure, bytes) {
  "use strict";

  const { Buffer, encode, encodingOf, fillFrom, incompleteUtf8, latin1Of, viewOf, withCode, wrongType } = bytes;

  /** How many bytes at the end have to wait for more. */
  function waiting(latin1, encoding) {
    if (encoding === "utf8") return incompleteUtf8(latin1);
    if (encoding === "base64" || encoding === "base64url") return latin1.length % 3;
    if (encoding !== "utf16le") return 0;
    const odd = latin1.length % 2;
    const high = latin1.charCodeAt(latin1.length - odd - 1);
    return latin1.length - odd >= 2 && high >= 0xd8 && high <= 0xdb ? odd + 2 : odd;
  }

  class StringDecoder {
    #waits = "";
    constructor(encoding) { this.encoding = encodingOf(encoding); }
    write(bytes) {
      if (typeof bytes === "string") return bytes;
      if (!ArrayBuffer.isView(bytes)) throw wrongType("buf", "an instance of Buffer, TypedArray, or DataView", bytes);
      const all = this.#waits + latin1Of(viewOf(bytes));
      const rest = waiting(all, this.encoding);
      this.#waits = rest ? all.slice(-rest) : "";
      return pure("decode", rest ? all.slice(0, -rest) : all, this.encoding);
    }
    end(bytes) {
      const text = (bytes === undefined ? "" : this.write(bytes)) + pure("decode", this.#waits, this.encoding);
      this.#waits = "";
      return text;
    }
  }

  class TextEncoder {
    get encoding() { return "utf-8"; }
    encode(text = "") {
      const latin1 = encode(String(text).toWellFormed(), "utf8");
      return fillFrom(new Uint8Array(latin1.length), latin1);
    }
    encodeInto(text, target) {
      let read = 0;
      let written = 0;
      for (const character of String(text)) {
        const bytes = this.encode(character);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        written += bytes.length;
        read += character.length;
      }
      return { read, written };
    }
  }

  class TextDecoder {
    #flags;
    #waits = "";
    constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
      Object.defineProperty(this, "encoding", { value: pure("textDecoder", String(label)), enumerable: true });
      Object.defineProperty(this, "fatal", { value: Boolean(fatal), enumerable: true });
      Object.defineProperty(this, "ignoreBOM", { value: Boolean(ignoreBOM), enumerable: true });
      this.#flags = (fatal ? "f" : "") + (ignoreBOM ? "b" : "");
    }
    decode(bytes = new Uint8Array(0), { stream = false } = {}) {
      if (!ArrayBuffer.isView(bytes) && !(bytes instanceof ArrayBuffer)) {
        throw withCode(new TypeError('The "list" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.'), "ERR_INVALID_ARG_TYPE");
      }
      let latin1 = this.#waits + latin1Of(viewOf(bytes));
      const name = { __proto__: null, "utf-8": "utf8", "utf-16le": "utf16le" }[this.encoding];
      const rest = stream ? waiting(latin1, name) : 0;
      this.#waits = rest ? latin1.slice(-rest) : "";
      if (rest) latin1 = latin1.slice(0, -rest);
      // Only the first piece of a stream may begin with a byte order mark.
      const flags = this.#started ? this.#flags.replace("b", "") + "b" : this.#flags;
      this.#started = stream;
      return pure("textDecode", latin1, this.encoding, flags);
    }
    #started = false;
  }

  function exception(name, message) {
    const error = new Error(message);
    Object.defineProperty(error, "name", { value: name, configurable: true, writable: true });
    Object.defineProperty(error, "code", { value: { InvalidCharacterError: 5, DataCloneError: 25 }[name], configurable: true, writable: true });
    return error;
  }
  function asked(operation, text) {
    try {
      return pure(operation, String(text));
    } catch (error) {
      throw exception("InvalidCharacterError", error.message);
    }
  }
  const atob = (text) => asked("atob", text);
  const btoa = (text) => asked("btoa", text);

  const module = {
    __proto__: null,
    Buffer,
    SlowBuffer: Buffer,
    atob,
    btoa,
    constants: { MAX_LENGTH: 9007199254740991, MAX_STRING_LENGTH: 536870888 },
    kMaxLength: 9007199254740991,
    kStringMaxLength: 536870888,
    isAscii: (bytes) => viewOf(bytes).every((byte) => byte < 128),
    isUtf8: (bytes) => {
      try {
        pure("textDecode", latin1Of(viewOf(bytes)), "utf-8", "fb");
        return true;
      } catch {
        return false;
      }
    },
    transcode: (bytes, from, to) => {
      const latin1 = pure("transcode", latin1Of(viewOf(bytes)), encodingOf(from), encodingOf(to));
      return fillFrom(new Buffer(latin1.length), latin1);
    },
  };

  return { __proto__: null, module, StringDecoder, TextEncoder, TextDecoder, atob, btoa, exception };
})
