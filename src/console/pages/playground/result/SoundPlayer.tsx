/** A sound that is played from memory, and can be saved as a file. */
import { Stack, Text } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { SaveButton } from "./SaveButton.tsx"
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
      <SaveButton file={sound} name={name} />
    </Stack>
  )
}
