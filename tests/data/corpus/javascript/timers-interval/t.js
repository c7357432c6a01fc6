export default { name: "t", transform: () => new Promise((done) => { const handle = globalThis["set" + "Interval"](() => { clearInterval(handle); done([{ id: "i" }]) }, 1) }) }
