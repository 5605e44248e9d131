/** The dialogs that the catalog page can open. */
import { useRef, useState } from "react"
import type { NewerVersions } from "./draft/catalogCalls.ts"
import type { Entry } from "./draft/catalogEntries.ts"

export type DraftDialog =
  | { readonly kind: "edit"; readonly entry: Entry; readonly replacedKey: string | null }
  | { readonly kind: "remove"; readonly entry: Entry }
  | { readonly kind: "review" }
  | { readonly kind: "drop" }
  | { readonly kind: "merge"; readonly newerVersions: NewerVersions | null }

/** The open dialog, if any. When it closes, the focus returns to the element that had it before. */
export const useDraftDialog = () => {
  const [dialog, setDialog] = useState<DraftDialog | null>(null)
  const focusedElement = useRef<Element | null>(null)
  const openDialog = (nextDialog: DraftDialog | null): void => {
    if (dialog === null) focusedElement.current = document.activeElement
    setDialog(nextDialog)
    if (nextDialog !== null) return
    const opener = focusedElement.current
    // The dialog releases the focus first.
    setTimeout(() => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    })
  }
  return { dialog, openDialog }
}
