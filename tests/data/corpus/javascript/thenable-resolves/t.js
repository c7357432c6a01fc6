export default { name: "t", transform: () => ({ then(ok, no) { ok({ then(deeper) { deeper([{ id: "deep" }]) } }); no(new Error("late")); throw new Error("later") } }) }
