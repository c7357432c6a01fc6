import { mentions } from "./text"

interface Wish {
  /** Groups of words; one word of a group is enough. */
  wanted: string[][]
  unwanted: string[]
}

/** The share of wanted groups that the reply names; each unwanted item takes one group's share away again. */
export default {
  evaluate({ output, caseData }: { output: string; caseData: Wish }) {
    const missing = caseData.wanted.filter((group) => !group.some((item) => mentions(output, item)))
    const unwanted = caseData.unwanted.filter((item) => mentions(output, item))
    const named = caseData.wanted.length - missing.length
    const score = Math.max(0, named - unwanted.length) / caseData.wanted.length
    return {
      passed: score === 1,
      score,
      message: score === 1 ? null : `${named} of ${caseData.wanted.length} named, ${unwanted.length} unwanted`,
      details: { missing: missing.length, unwanted: unwanted.length },
    }
  },
}
