import zlib from "node:zlib"
export default { name: "t", transform: () => [{ id: zlib.gunzipSync(zlib.gzipSync("héllo")).toString(), hex: zlib.deflateSync(Buffer.alloc(40, "ab")).toString("hex"), head: [...zlib.gzipSync("x").subarray(0, 9)], crc: zlib.crc32("hello"), br: zlib.brotliDecompressSync(zlib.brotliCompressSync("b")).toString() }] }
