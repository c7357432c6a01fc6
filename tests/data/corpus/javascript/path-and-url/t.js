import path, { posix } from "node:path"
import { URL, URLSearchParams } from "node:url"
import qs from "querystring"
import { format, inspect } from "util"
export default { name: "t", transform: () => [{ id: path.join("a", "..", "b", "./c.txt"), win: path.win32.parse("C:\\x\\y.tar.gz").name, same: posix === path.posix, url: new URL("../q?a=1&a=2#h", "https://exämple.org/x/y/z").href, all: new URLSearchParams("a=1&b=%20&a=3").getAll("a"), qs: qs.stringify({ a: [1, true], b: "ü &" }), text: format("%s|%d|%j|%%", "x", 4.5, { k: [null] }), shown: inspect({ a: [1, { b: new Map([["k", /v/g]]) }], s: "it's" }, { depth: 4 }) }] }
