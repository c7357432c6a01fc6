const enum Size { Small = 1, Big = Small << 3, Word = "four".length }
enum Level { Easy = "easy", Hard = `h${"ard"}` }
enum Auto { A, B = 5, C }
function make(): string { return make.prefix + Tools.Deep.suffix }
namespace make { export const prefix = "pre-" }
namespace Tools { export namespace Deep { export const suffix = "suf" } }
import Deep = Tools.Deep
class Box<T> { constructor(private readonly value: T, public size: Size = Size.Big) {} show() { return `${this.value}${this.size}` } }
export default { name: "t", transform: () => [{ id: make(), deep: Deep.suffix, box: new Box("b").show(), keys: Object.keys(new Box(1)), auto: [Auto[5], Auto.C, Auto[0]], level: Level.Hard, word: Size.Word }] }
