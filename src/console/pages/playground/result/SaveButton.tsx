import { Button, Group } from "@mantine/core"
import { IconDownload } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { save } from "../../../gateway/files.ts"

interface Props {
  readonly file: Blob
  readonly name: string
}

/** Saves a file that is in memory. */
export const SaveButton = ({ file, name }: Props) => {
  const { t } = useTranslation("playground")
  return (
    <Group>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconDownload size={14} />}
        aria-label={`${t("download")}: ${name}`}
        onClick={() => save(file, name)}
      >
        {t("download")}
      </Button>
    </Group>
  )
}
