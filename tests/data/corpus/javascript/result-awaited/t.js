async function* pages() { for (const id of ["a", "b"]) { await null; yield { id } } }
export default { name: "t", transform: () => Promise.resolve(Array.fromAsync(pages())) }
