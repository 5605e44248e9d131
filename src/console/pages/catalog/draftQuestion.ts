/** What is asked on the catalog's page before it goes on. */
import { useRef, useState } from "react"
import type { Meanwhile } from "./draft/catalogCalls.ts"
import type { Entry } from "./draft/catalogEntries.ts"

export type Question =
  | { readonly kind: "edit"; readonly entry: Entry; readonly replaced: string | null }
  | { readonly kind: "remove"; readonly entry: Entry }
  | { readonly kind: "review" }
  | { readonly kind: "drop" }
  | { readonly kind: "merge"; readonly meanwhile: Meanwhile | null }

/** The question that is open, if any. What had the focus before it has it again afterwards. */
export const useQuestion = () => {
  const [question, setQuestion] = useState<Question | null>(null)
  const before = useRef<Element | null>(null)
  const ask = (next: Question | null): void => {
    if (question === null) before.current = document.activeElement
    setQuestion(next)
    if (next !== null) return
    const opener = before.current
    // The dialog lets go of the focus first.
    setTimeout(() => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    })
  }
  return { question, ask }
}
