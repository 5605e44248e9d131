/** What the finance desk was answered, beside what its own books let it expect. */
import { type FinanceRule, financeRules, type Witness } from "../witness.ts"
import { open, type Verdict } from "./verdict.ts"

const rules: ReadonlyArray<FinanceRule> = ["F1", "F2", "F3", "F4", "F5", "F6", "F7"]

export const judgeFinance = ({ finance }: Witness): ReadonlyArray<Verdict> =>
  rules.map((rule) => {
    const docket = open(rule, financeRules[rule])
    for (const { what, expected, answer } of finance.filter((one) => one.rule === rule)) {
      docket.look(answer === expected ? null : `${what}: expected ${expected}, got ${answer}`)
    }
    return docket.verdict
  })
