import { words } from "./words.js"
const joined = await Promise.all(words.map(async (word) => (await null, word.toUpperCase())))
export default { name: "t", transform: () => joined.map((id) => ({ id })) }
