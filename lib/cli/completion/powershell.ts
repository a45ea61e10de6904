/**
 * The completion script for PowerShell. The script asks the program for candidates.
 *
 * @module
 */

/**
 * Script for a program.
 * @param program Name of the program on the command line.
 * @param request Hidden command that answers, with or without descriptions.
 */
export function powershellScript(program: string, request: string): string {
  return `# Completion of ${program} for PowerShell.
#   for this shell:  ${program} completion powershell | Out-String | Invoke-Expression
#   for every shell: add that line to your profile ($PROFILE)

Register-ArgumentCompleter -Native -CommandName '${program}' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $line = $commandAst.Extent.Text
    if ($line.Length -gt $cursorPosition) { $line = $line.Substring(0, $cursorPosition) }
    $words = @($line -split '\\s+' | Where-Object { $_ -ne '' })
    $program = $words[0]
    $rest = @($words | Select-Object -Skip 1)
    if ($wordToComplete -eq '') { $rest += '' }
    # Windows PowerShell drops an empty argument to a native command unless it is quoted again.
    if ($PSVersionTable.PSVersion.Major -lt 7) { $rest = @($rest | ForEach-Object { if ($_ -eq '') { '""' } else { $_ } }) }
    $replies = @(& $program ${request} @rest 2>$null)
    if ($replies.Count -eq 0) { return }
    $directive = $replies[-1]
    if ($directive -eq ':files' -or $directive -eq ':folders') { return }
    foreach ($reply in $replies[0..($replies.Count - 1)]) {
        if ($reply.StartsWith(':')) { continue }
        $value, $text = $reply -split "\`t", 2
        if (-not $text) { $text = $value }
        $insert = if ($directive -eq ':nospace') { $value } else { "$value " }
        [System.Management.Automation.CompletionResult]::new($insert, $value, 'ParameterValue', $text)
    }
}
`;
}
