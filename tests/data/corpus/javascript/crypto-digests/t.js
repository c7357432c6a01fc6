import crypto, { createHmac } from "node:crypto"
export default { name: "t", transform: () => ["md5", "sha1", "sha256", "sha512", "sha3-256"].map((name) => ({ id: name, hash: crypto.createHash(name).update("é").update(Buffer.from([0, 255])).digest("base64"), mac: createHmac(name, "key").update("text").digest("hex").slice(0, 20) })) }
