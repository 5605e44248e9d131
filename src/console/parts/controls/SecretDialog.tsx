/**
 * A dialog that shows a secret once. It stays open until the reader confirms that the secret was
 * saved.
 */
import { Alert, Button, CopyButton, Group, Modal, Stack, TextInput } from "@mantine/core"
import { IconAlertTriangle, IconCheck, IconCopy } from "@tabler/icons-react"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { useRestoreFocus } from "./ActionDialog.tsx"

interface Props {
  readonly title: string
  /** The label of the secret. */
  readonly label: string
  readonly secret: string
  readonly onConfirm: () => void
  /** What else is shown with the secret. */
  readonly children?: ReactNode
}

export const SecretDialog = ({ title, label, secret, onConfirm, children }: Props) => {
  const { t } = useTranslation()
  useRestoreFocus()
  return (
    <Modal
      opened
      onClose={onConfirm}
      title={title}
      size="lg"
      closeOnEscape={false}
      closeOnClickOutside={false}
      withCloseButton={false}
      returnFocus={false}
    >
      <Stack>
        <Alert color="orange" role="status" icon={<IconAlertTriangle size={18} />}>
          {t("secret.once")}
        </Alert>
        <TextInput
          label={label}
          value={secret}
          readOnly
          classNames={{ input: "id" }}
          onFocus={(event) => event.currentTarget.select()}
        />
        {children}
        <Group justify="flex-end">
          <CopyButton value={secret}>
            {({ copied, copy }) => (
              <Button
                variant="default"
                leftSection={copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
                onClick={copy}
              >
                {copied ? t("copied") : t("copy")}
              </Button>
            )}
          </CopyButton>
          <Button onClick={onConfirm}>{t("secret.kept")}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
