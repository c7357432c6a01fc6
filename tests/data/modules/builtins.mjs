// What the built-in modules answer, or the name, code and message of their errors. Runs in plain Node and confined.
import assert from 'node:assert'
import { Buffer as B } from 'node:buffer'
import { createHash, createHmac, hash, timingSafeEqual } from 'node:crypto'
import path from 'node:path'
import qs from 'node:querystring'
import { StringDecoder } from 'node:string_decoder'
import url from 'node:url'
import util from 'node:util'
import zlib from 'node:zlib'

const attempt = (f) => {
  try {
    return JSON.stringify(f()) ?? 'undefined'
  } catch (e) {
    return [e.name, e.code ?? null, e.message]
  }
}

export default {
  crypto: [
    attempt(() => createHash('sha256').update('é').update(Buffer.from([1, 2])).digest('hex')),
    attempt(() => createHash('md5').update('x').digest('base64url')),
    attempt(() => createHash('sha1').update('ff', 'hex').digest().toString('hex')),
    attempt(() => createHash('shake256', { outputLength: 5 }).update('x').digest('hex')),
    attempt(() => (() => { const h = createHash('sha512').update('a'); return [h.copy().digest('hex'), h.update('b').digest('base64')] })()),
    attempt(() => createHmac('sha256', 'key').update('x').digest('hex')),
    attempt(() => hash('sha1', 'x')),
    attempt(() => timingSafeEqual(Buffer.from('a'), Buffer.from('a'))),
    attempt(() => createHash('nope')),
    attempt(() => createHash('sha256').update(Symbol())),
    attempt(() => (() => { const h = createHash('sha1'); h.digest(); return h.digest() })()),
    attempt(() => createHash('sha256').update(1)),
  ],
  buffer: [
    attempt(() => [Buffer.from('añ😀').toString('hex'), Buffer.byteLength('añ'), Buffer.from('aGk', 'base64').toString()]),
    attempt(() => [Buffer.from('ff00zz', 'hex').length, Buffer.from('é', 'latin1')[0], Buffer.from('hi', 'utf16le').toString('hex')]),
    attempt(() => [Buffer.from([256, -1, 1.9])[1], Buffer.alloc(5, 'ab').toString(), Buffer.alloc(3, 7)[2], Buffer.from('abc').at(-1)]),
    attempt(() => [Buffer.concat([Buffer.from('a'), new Uint8Array([98])], 5).toString(), Buffer.compare(Buffer.from('a'), B.from('b'))]),
    attempt(() => JSON.stringify({ b: Buffer.from('hi') })),
    attempt(() => (() => { const b = Buffer.alloc(16); b.writeUInt32BE(0xdeadbeef); b.writeInt16LE(-2, 4); b.writeDoubleLE(1.5, 8); return [b.toString('hex'), b.readUint32LE(0), b.readInt16LE(4), b.readUIntBE(0, 3), b.readIntLE(0, 6), b.readBigInt64LE(8) + ''] })()),
    attempt(() => ['c', 'bc', 99, Buffer.from('b'), '', 'zz'].map((v) => [Buffer.from('abcabc').indexOf(v), Buffer.from('abcabc').lastIndexOf(v)])),
    attempt(() => [Buffer.from('abc').slice(1).toString(), Buffer.from('abc').subarray(-2, -1).toString(), Buffer.from('abc').includes('bc')]),
    attempt(() => (() => { const b = Buffer.alloc(4); return [b.write('aé€'), b.toString(), b.fill('xy').toString(), b.swap16().toString()] })()),
    attempt(() => [Buffer.isBuffer(Buffer.alloc(1)), Buffer.isBuffer(new Uint8Array(1)), Buffer.isEncoding('UTF-8'), Buffer.isEncoding('x')]),
    attempt(() => [Buffer.from('ab').equals(Buffer.from('ab')), [...Buffer.from('ab').entries()], Buffer.from('abc').toString('utf8', 1, 2)]),
    attempt(() => Buffer.from([0xff, 0xfe, 0xe2, 0x82]).toString()),
    attempt(() => Buffer.alloc(2).readUInt32LE(0)),
    attempt(() => Buffer.from({})),
    attempt(() => Buffer.from('a', 'nope')),
    attempt(() => [atob('aGk='), btoa('hi')]),
    attempt(() => atob('***')),
  ],
  text: [
    attempt(() => [[...new TextEncoder().encode('é😀\ud800')], new TextEncoder().encodeInto('aé', new Uint8Array(2))]),
    attempt(() => new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff]))),
    attempt(() => [new TextDecoder('utf-16le').decode(new Uint8Array([0x61, 0])), new TextDecoder('latin1').encoding]),
    attempt(() => (() => { const d = new TextDecoder(); return ['e2', '82', 'ac41'].map((h) => d.decode(Buffer.from(h, 'hex'), { stream: true })).concat(d.decode()) })()),
    attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff]))),
    attempt(() => (() => { const d = new StringDecoder('utf8'); return [d.write(B.from([0xe2, 0x82])), d.write(B.from([0xac])), d.end(B.from([0xe2]))] })()),
    attempt(() => (() => { const d = new StringDecoder('base64'); return [d.write(B.from('abcd')), d.end()] })()),
    attempt(() => structuredClone({ d: new Date(5), m: new Map([[1, [2]]]), s: new Set([1]), u: undefined, e: new RangeError('x') }).e.message),
    attempt(() => structuredClone(() => 1)),
  ],
  path: [
    attempt(() => [path.join('a', '..', 'b/c', '.'), path.normalize('/a/./b//../c'), path.basename('/x/y.txt', '.txt'), path.basename('a')]),
    attempt(() => [path.parse('/a/b.c.d'), path.format({ dir: '/x', base: 'y' }), path.extname('q.tar.gz'), path.dirname('/a/b')]),
    attempt(() => [path.relative('/a/b', '/a/c'), path.resolve('/a', '../b'), path.isAbsolute('x'), path.sep, path.win32.join('a', 'b')]),
    attempt(() => path.join(1)),
    attempt(() => [qs.parse('a=1&b=2&a=3&c=%E9&d'), qs.stringify({ a: [1, 2], b: 'x y', c: true, d: {}, e: null }), qs.escape('é/')]),
  ],
  url: [
    attempt(() => (() => { const u = new URL('../x?a=1&b=2#h', 'https://user:pw@ex.com:8080/p/q'); u.searchParams.append('c', 'é &'); u.hash = 'z'; u.port = '443'; u.pathname = '/ö'; return [u.href, u.host, u.origin, u.searchParams.get('a'), [...u.searchParams], JSON.stringify(u)] })()),
    attempt(() => [String(new URLSearchParams({ x: 1, y: 'a b' })), new URLSearchParams('?a=1&a=2').getAll('a'), URL.canParse('nope')]),
    attempt(() => (() => { const p = new URLSearchParams([['b', '1'], ['a', '2'], ['b', '3']]); p.sort(); p.set('b', 'x'); p.delete('a'); return [p + '', p.size, p.has('b', 'x')] })()),
    attempt(() => new URL('nope')),
    attempt(() => [url.parse('http://a.b:1/c?d=e#f').host, url.fileURLToPath('file:///a%20b'), url.pathToFileURL('/a b').href, url.resolve('/one/two', 'three')]),
    attempt(() => [url.format({ protocol: 'https', host: 'x.y', pathname: '/z' }), url.domainToASCII('español.com'), url.format(new URL('http://é.x/#h'), { fragment: false })]),
  ],
  util: [
    attempt(() => util.format('%s %d %i %f %j %o %O %%', 'x', 1.5, '7', '2.5', { a: 1 }, [1], { b: [2] }, 'more', 10n)),
    attempt(() => util.inspect({ a: 1, b: [1, 2, { c: new Map([[1, { x: 2 }]]) }], d: new Date(0), e: undefined, f() {}, g: class Q {}, h: /x/g, j: 10n, k: Symbol('s'), l: new Set([1]), m: "q's", n: -0, o: [, 1] }, { depth: 4 })),
    attempt(() => util.inspect(new (class Foo { constructor() { this.x = 1; this.self = this } })())),
    attempt(() => util.inspect({ a: { b: { c: { d: 1 } } } })),
    attempt(() => util.inspect('a'.repeat(200).split(''))),
    attempt(() => [[{ a: [1] }, { a: [1] }], [[1], ['1']], [NaN, NaN], [0, -0], [new Set([1, 2]), new Set([2, 1])], [new Date(1), new Date(2)], [{ a: 1 }, Object.assign(Object.create(null), { a: 1 })], [[1, , 2], [1, undefined, 2]]].map(([x, y]) => util.isDeepStrictEqual(x, y))),
    attempt(() => [util.types.isDate(new Date(0)), util.types.isRegExp(/x/), util.types.isMap({}), util.types.isPromise(Promise.resolve()), util.types.isUint8Array(new Uint8Array()), util.types.isAsyncFunction(async () => 1), util.types.isBoxedPrimitive(Object(1)), util.types.isProxy(new Proxy({}, {}))]),
    attempt(() => [util.stripVTControlCharacters('\u001b[31mred\u001b[0m'), util.toUSVString('a\ud800')]),
  ],
  assert: [
    attempt(() => assert.deepStrictEqual({ a: 1 }, { a: 2 })),
    attempt(() => assert.strictEqual(1, 2)),
    attempt(() => assert.equal(1, '1')),
    attempt(() => assert.notStrictEqual(1, 1)),
    attempt(() => assert.strictEqual(1, 2, 'my words')),
    attempt(() => assert.match('abc', /x/)),
    attempt(() => assert.throws(() => {})),
    attempt(() => assert.fail('no')),
    attempt(() => (() => { const o = {}; assert.strictEqual(o, o); assert.notStrictEqual(o, {}); assert.throws(() => { throw new TypeError('boo') }, TypeError); assert.throws(() => { throw new TypeError('boo') }, { message: 'boo' }); assert.match('abc', /b/); assert(true); assert.deepEqual([1], ['1']); return 'ok' })()),
    attempt(() => (() => { try { assert.strictEqual(1, 2) } catch (e) { return [e.name, e.code, e.actual, e.expected, e.operator, e.generatedMessage] } })()),
  ],
  zlib: [
    attempt(() => [zlib.gunzipSync(zlib.gzipSync('héllo')).toString(), zlib.gzipSync('x').toString('hex'), zlib.deflateSync('a'.repeat(99), { level: 9 }).toString('hex')]),
    attempt(() => [zlib.inflateRawSync(zlib.deflateRawSync(Buffer.from('q'))).toString(), zlib.unzipSync(zlib.deflateSync('u')).toString()]),
    attempt(() => [zlib.brotliDecompressSync(zlib.brotliCompressSync('z')).toString(), zlib.crc32('hello'), zlib.constants.Z_BEST_SPEED]),
    attempt(() => zlib.inflateSync(Buffer.from('nonsense'))),
  ],
}
