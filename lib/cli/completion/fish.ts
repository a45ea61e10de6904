/**
 * The completion script for fish. The script asks the program for candidates.
 *
 * @module
 */

/**
 * Script for a program.
 * @param program Name of the program on the command line.
 * @param request Hidden command that answers, with or without descriptions.
 */
export function fishScript(program: string, request: string): string {
  const name = `__${program.replaceAll("-", "_")}_complete`;
  return `# Completion of ${program} for fish.
#   for this shell:  ${program} completion fish | source
#   for every shell: ${program} completion fish > ~/.config/fish/completions/${program}.fish

function ${name}
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l replies ($program ${request} $words "$current" 2>/dev/null)
    switch "$replies[-1]"
        case ':files'
            __fish_complete_path $current
        case ':folders'
            __fish_complete_directories $current
        case '*'
            set -e replies[-1]
            printf '%s\\n' $replies
    end
end

complete -c ${program} -e
complete -c ${program} -f -a '(${name})'
`;
}
