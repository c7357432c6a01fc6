import type { Gone } from "./gone"
import { type Row, parse } from "./rows.ts"
function id(x: string): string; function id(x: number): string; function id(x: unknown): string { return `${x}` }
declare const ambient: Gone
abstract class Base<in out T extends Row> { abstract get(): T; protected static readonly tag: unique symbol = Symbol() as any; declare later?: string; [key: string]: unknown }
class Impl extends Base<Row> { override get(this: Impl): Row { return parse("x")! } }
const pair = <const T,>(...x: T[]): readonly T[] => x
type Keys = { readonly [K in keyof Row as `get${Capitalize<K>}`]-?: () => Row[K] }
export default { name: "t" as const, transform: () => [{ ...new Impl().get(), n: id(1), p: pair("a", "b")[1]!, k: ({} as Partial<Keys>).getId?.() ?? "none" } satisfies Row & Record<string, unknown>] }
