/** Something that is asked about, filled in or confirmed before it is done. */
import { Button, Group, Modal, Stack } from "@mantine/core"
import { type FormEvent, type ReactNode, useEffect, useState } from "react"
import { useTranslation } from "react-i18next"
import { FailureNote } from "../FailureNote.tsx"

interface Props {
  readonly title: string
  /** What the button says that does it. */
  readonly action: string
  readonly children: ReactNode
  /** What cannot be undone stands out. */
  readonly isDangerous?: boolean
  readonly doing: { readonly isPending: boolean; readonly error: Error | null }
  readonly onDo: (event: FormEvent<HTMLFormElement>) => void
  readonly onClose: () => void
  readonly size?: string
}

/** What had the focus before a dialog; of a dialog that follows another, what had it before the first. */
let opener: Element | null = null

const noteOpener = (): Element | null => {
  if (document.querySelector('[role="dialog"]') === null) opener = document.activeElement
  return opener
}

/** The keyboard goes on where it was, or in the page where that is gone. */
export const useFocusBack = (): void => {
  const [before] = useState(noteOpener)
  useEffect(
    () => () => {
      const back =
        before instanceof HTMLElement && before.isConnected && before !== document.body
          ? before
          : document.querySelector<HTMLElement>("#content")
      back?.focus({ preventScroll: true })
    },
    [before]
  )
}

/** To be mounted while it is open. */
export const ActionDialog = (props: Props) => {
  const { t } = useTranslation()
  const { title, action, children, isDangerous = false, doing, onDo, onClose, size } = props
  useFocusBack()
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      returnFocus={false}
      closeButtonProps={{ "aria-label": t("close") }}
      {...(size === undefined ? {} : { size })}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (!doing.isPending) onDo(event)
        }}
      >
        <Stack>
          {children}
          {doing.error === null ? null : <FailureNote error={doing.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("cancel")}
            </Button>
            <Button
              type="submit"
              loading={doing.isPending}
              {...(isDangerous ? { color: "red.8" } : {})}
            >
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
