/** The dialogs that the catalog page can open. */
import { useRef, useState } from "react"
import type { Meanwhile } from "./draft/catalogCalls.ts"
import type { Entry } from "./draft/catalogEntries.ts"

export type Question =
  | { readonly kind: "edit"; readonly entry: Entry; readonly replaced: string | null }
  | { readonly kind: "remove"; readonly entry: Entry }
  | { readonly kind: "review" }
  | { readonly kind: "drop" }
  | { readonly kind: "merge"; readonly meanwhile: Meanwhile | null }

/** The open dialog, if any. When it closes, the focus returns to the element that had it before. */
export const useQuestion = () => {
  const [question, setQuestion] = useState<Question | null>(null)
  const before = useRef<Element | null>(null)
  const ask = (next: Question | null): void => {
    if (question === null) before.current = document.activeElement
    setQuestion(next)
    if (next !== null) return
    const opener = before.current
    // The dialog releases the focus first.
    setTimeout(() => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    })
  }
  return { question, ask }
}
