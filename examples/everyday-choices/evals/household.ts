export default {
  id: "household",
  title: "Around the house",
  systemPrompt: "Choose one option. End with a line of the form FINAL ANSWER: <letter>.",
  limits: { maxOutputTokens: 200 },
  cases: {
    transformer: "../transformers/index.ts",
    sources: {
      questions: "../data/questions.jsonl",
      key: "../data/key.json",
    },
  },
  evaluate: { kind: "non_empty" },
}
