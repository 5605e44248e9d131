/** A sound that is played from memory, and can be saved as a file. */
import { Button, Group, Stack, Text } from "@mantine/core"
import { IconDownload } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { save } from "../../../gateway/files.ts"
import { useBlobAddress } from "./useBlobAddress.ts"

interface Props {
  readonly sound: Blob
  readonly name: string
}

export const SoundPlayer = ({ sound, name }: Props) => {
  const { t } = useTranslation("playground")
  const address = useBlobAddress(sound)
  const [isUnplayable, setUnplayable] = useState(false)
  return (
    <Stack gap="xs">
      {address === null ? null : (
        // biome-ignore lint/a11y/useMediaCaption: the form contains the text that is spoken
        <audio
          controls
          src={address}
          aria-label={t("speech")}
          style={{ width: "100%" }}
          onError={() => setUnplayable(true)}
        />
      )}
      {isUnplayable ? (
        <Text size="sm" c="dimmed" role="status">
          {t("unplayable")}
        </Text>
      ) : null}
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDownload size={14} />}
          aria-label={`${t("download")}: ${name}`}
          onClick={() => save(sound, name)}
        >
          {t("download")}
        </Button>
      </Group>
    </Stack>
  )
}
