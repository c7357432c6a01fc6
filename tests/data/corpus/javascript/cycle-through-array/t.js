export default { name: "t", transform() { const cases = [{ id: "c", all: [] }]; cases[0].all.push(cases[0]); return cases } }
