/** Deletes the result of an order, after a confirmation. */
import { Button, Group, Modal, Stack, Text } from "@mantine/core"
import { useDisclosure } from "@mantine/hooks"
import { notifications } from "@mantine/notifications"
import { IconTrash } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import type { TaskKind } from "../../../../domain/orderIds.ts"
import { useApiMutation } from "../../../gateway/hooks.tsx"
import { FailureNote } from "../../../parts/FailureNote.tsx"

export const DeleteButton = ({ id, kind }: { readonly id: string; readonly kind: TaskKind }) => {
  const { t } = useTranslation("orders")
  const { t: shell } = useTranslation()
  const [isOpen, { open, close }] = useDisclosure(false)
  const params = { task_id: id }
  const removals = {
    video: useApiMutation(() => (gateway) => gateway.videos.remove({ params }), [["orders"]]),
    image: useApiMutation(() => (gateway) => gateway.images.remove({ params }), [["orders"]]),
    speech: useApiMutation(() => (gateway) => gateway.audio.remove({ params }), [["orders"]])
  } as const
  const removal = removals[kind]
  const remove = async () => {
    try {
      await removal.mutateAsync(undefined)
    } catch {
      // The dialog shows the error.
      return
    }
    close()
    notifications.show({ message: t("deletion.done") })
    // The button that had the focus is removed with the deleted result, so the focus moves to the
    // page.
    document.querySelector<HTMLElement>("#content")?.focus()
  }
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconTrash size={16} />}
        onClick={() => {
          removal.reset()
          open()
        }}
      >
        {t("deletion.go")}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={t("deletion.title")}
        closeButtonProps={{ "aria-label": shell("close") }}
      >
        <Stack>
          <Text>{t("deletion.text")}</Text>
          {removal.isError ? <FailureNote error={removal.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              {shell("cancel")}
            </Button>
            <Button color="red" loading={removal.isPending} onClick={() => void remove()}>
              {t("deletion.go")}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
