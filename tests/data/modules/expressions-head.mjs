// Stands before the expressions of expressions.txt, in plain Node and confined: what they use, and their values as text.
import crypto, { createHash, createHmac, hash } from 'node:crypto'
import * as B from 'buffer'
import path from 'node:path'
import { join, posix, win32 } from 'path'
import posix2 from 'node:path/posix'
import url, { URL as U2, URLSearchParams as P2, fileURLToPath, pathToFileURL } from 'node:url'
import util, { format, inspect, isDeepStrictEqual, types, TextDecoder as TD, promisify } from 'node:util'
import assert, { strict, deepStrictEqual } from 'node:assert'
import sassert from 'node:assert/strict'
import { StringDecoder } from 'string_decoder'
import qs from 'node:querystring'
import zlib, { gunzipSync, inflateSync, gzipSync } from 'zlib'
import ty from 'util/types'
const { Buffer: Buf2 } = B
function show(x, d=0) {
  if (x === undefined) return 'undefined'
  if (typeof x === 'bigint') return x + 'n'
  if (typeof x === 'number') return Object.is(x,-0) ? '-0' : String(x)
  if (typeof x === 'symbol') return String(x)
  if (typeof x === 'function') return 'fn ' + x.name
  if (typeof x !== 'object' || x === null) return JSON.stringify(x)
  if (d > 5) return '...'
  if (Buffer.isBuffer(x)) return 'Buf:' + x.toString('latin1').split('').map(c=>c.charCodeAt(0).toString(16).padStart(2,'0')).join('')
  if (ArrayBuffer.isView(x)) return x[Symbol.toStringTag] + ':' + Array.from(x).join()
  if (x instanceof Error) return 'E ' + x.name + '|' + x.message + '|' + x.code
  if (Array.isArray(x)) return '[' + x.map(y=>show(y,d+1)).join(', ') + ']'
  if (x instanceof Map) return 'Map' + show([...x],d+1)
  if (x instanceof Set) return 'Set' + show([...x],d+1)
  if (x instanceof Date) return 'Date' + x.getTime()
  return (x.constructor?.name ?? 'null') + '{' + Object.keys(x).map(k => k + ':' + show(x[k],d+1)).join(', ') + '}'
}
const out = []
async function t(label, f) { let r; try { r = show(await f()) } catch (e) { r = 'throws ' + show(e) } out.push([label, r]) }
class Foo { constructor(){ this.a=1 } get z(){return 3} }
class Bar extends Foo { b=[1,{c:2}] }
const big = Buffer.from(Array.from({length:300},(_,i)=>i&255))
