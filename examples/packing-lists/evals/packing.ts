export default {
  id: "packing",
  title: "What to take along",
  systemPrompt: "Answer with a short list, one item a line.",
  limits: { maxOutputTokens: 160 },
  cases: [
    {
      id: "rainy-walk",
      prompt: "What should I take for a walk on a rainy day?",
      data: { wanted: [["umbrella", "rain jacket", "raincoat"], ["boot", "waterproof shoe"]], unwanted: ["sunscreen"] },
    },
    {
      id: "night-train",
      prompt: "What should I take for one night on a train?",
      data: { wanted: [["toothbrush"], ["ticket"], ["water", "drink"], ["book", "headphone", "earplug"]], unwanted: ["tent"] },
    },
    {
      id: "beach-day",
      prompt: "What should I take for a day at the beach?",
      data: { wanted: [["towel"], ["sunscreen", "sun cream"], ["hat", "cap"]], unwanted: [] },
    },
  ],
  evaluate: {
    kind: "custom",
    evaluatorKey: "evaluators/named-items.ts#default",
    sourcePath: "evaluators/named-items.ts",
  },
}
