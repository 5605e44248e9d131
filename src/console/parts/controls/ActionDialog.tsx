/** A dialog that confirms an action, with fields where the action needs them. */
import { Button, Group, Modal, Stack } from "@mantine/core"
import { type FormEvent, type ReactNode, useEffect, useState } from "react"
import { useTranslation } from "react-i18next"
import { FailureNote } from "../FailureNote.tsx"

interface Props {
  readonly title: string
  /** The label of the button that runs the action. */
  readonly action: string
  readonly children: ReactNode
  /** Whether the action cannot be undone; it is then highlighted. */
  readonly isDangerous?: boolean
  readonly mutation: { readonly isPending: boolean; readonly error: Error | null }
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void
  readonly onClose: () => void
  readonly size?: string
}

/**
 * The element that had the focus before the dialog, or before the first of several consecutive
 * dialogs.
 */
let opener: Element | null = null

const activeElement = (): Element | null => {
  if (document.querySelector('[role="dialog"]') === null) opener = document.activeElement
  return opener
}

/**
 * Returns the focus to the element that had it before the dialog, or to the page where that element
 * is gone.
 */
export const useRestoreFocus = (): void => {
  const [openerElement] = useState(activeElement)
  useEffect(
    () => () => {
      const target =
        openerElement instanceof HTMLElement &&
        openerElement.isConnected &&
        openerElement !== document.body
          ? openerElement
          : document.querySelector<HTMLElement>("#content")
      target?.focus({ preventScroll: true })
    },
    [openerElement]
  )
}

/** The dialog component. It must be mounted only while the dialog is open. */
export const ActionDialog = (props: Props) => {
  const { t } = useTranslation()
  const { title, action, children, isDangerous = false, mutation, onSubmit, onClose, size } = props
  useRestoreFocus()
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
          if (!mutation.isPending) onSubmit(event)
        }}
      >
        <Stack>
          {children}
          {mutation.error === null ? null : <FailureNote error={mutation.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("cancel")}
            </Button>
            <Button
              type="submit"
              loading={mutation.isPending}
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
