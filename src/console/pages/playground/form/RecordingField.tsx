import { ActionIcon, Button, FileButton, Group, Input, Stack } from "@mantine/core"
import { IconFile, IconTrash } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FileName } from "./FileName.tsx"
import { type FormProps, fieldAttribute } from "./faults.ts"
import { asDataUrl, MOST_BYTES, megabytes, secondsOf } from "./localFiles.ts"

/** Recordings can be videos too, whose sound is transcribed. */
const ACCEPTED = "audio/*,video/mp4,video/webm"

/** The file whose sound is transcribed. */
export const RecordingField = ({ draft, change, errorOf }: FormProps) => {
  const { t } = useTranslation("playground")
  const [trouble, setTrouble] = useState<string | null>(null)
  const { recording } = draft
  const error = trouble ?? errorOf("file")

  const setFile = async (file: File | null) => {
    if (file === null) return
    if (file.size > MOST_BYTES) {
      const most = megabytes(MOST_BYTES)
      setTrouble(t("recordingTooLarge", { size: megabytes(file.size), most }))
      return
    }
    setTrouble(null)
    const [url, seconds] = await Promise.all([asDataUrl(file), secondsOf(file)])
    change({ recording: { name: file.name, bytes: file.size, url, seconds } })
  }

  return (
    <Stack gap={4} role="group" aria-label={t("recording")}>
      <Input.Label labelElement="div">{t("recording")}</Input.Label>
      <Input.Description>{t("recordingHint")}</Input.Description>
      {recording === null ? null : (
        <Group gap="xs" wrap="nowrap" miw={0}>
          <FileName name={recording.name} bytes={recording.bytes} />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t("removeRecording")}
            onClick={() => change({ recording: null })}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      )}
      {error === false ? null : (
        <Input.Error role={trouble === null ? undefined : "alert"}>{error}</Input.Error>
      )}
      <Group>
        <FileButton accept={ACCEPTED} onChange={(file) => void setFile(file)}>
          {(props) => (
            <Button
              {...props}
              {...fieldAttribute("file")}
              variant="default"
              size="compact-sm"
              leftSection={<IconFile size={14} />}
            >
              {t("addFile", { most: megabytes(MOST_BYTES) })}
            </Button>
          )}
        </FileButton>
      </Group>
    </Stack>
  )
}
