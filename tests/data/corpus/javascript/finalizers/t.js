export default { name: "t", transform() { let n = 0; new FinalizationRegistry(() => n++).register({}, 1); return [{ id: `${n}` }] } }
