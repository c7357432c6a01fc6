export default {
  id: "hours",
  title: "Reading a clock",
  systemPrompt: "Think briefly, then end with a line of the form #### <number>.",
  cases: "../data/hours.json",
  evaluate: { kind: "non_empty" },
}
