import { Button, Group } from "@mantine/core"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"

interface Props {
  readonly onBack: () => void
  readonly children: ReactNode
}

/** The buttons below a step: back, and those that go on. */
export const StepButtons = ({ onBack, children }: Props) => {
  const { t } = useTranslation("wizard")
  return (
    <Group justify="space-between">
      <Button variant="default" onClick={onBack}>
        {t("back")}
      </Button>
      <Group>{children}</Group>
    </Group>
  )
}
