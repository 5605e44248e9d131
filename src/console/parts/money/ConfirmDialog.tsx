/** A confirmation of an action that cannot be undone. */
import { Button, Group, Modal, Stack, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { FailureNote } from "../FailureNote.tsx"

interface Props {
  readonly isOpen: boolean
  readonly title: string
  /** The consequence of the action. */
  readonly text: string
  readonly action: string
  readonly isBusy: boolean
  readonly error: unknown
  readonly onConfirm: () => void
  readonly onClose: () => void
}

export const ConfirmDialog = ({
  isOpen,
  title,
  text,
  action,
  isBusy,
  error,
  onConfirm,
  onClose
}: Props) => {
  const { t } = useTranslation()
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      closeButtonProps={{ "aria-label": t("close") }}
    >
      <Stack>
        <Text>{text}</Text>
        {error === null ? null : <FailureNote error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("cancel")}
          </Button>
          <Button color="red.9" loading={isBusy} onClick={onConfirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
