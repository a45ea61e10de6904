/**
 * The completion script for zsh. The script asks the program for candidates.
 *
 * @module
 */

/**
 * Script for a program. The script works sourced and as a file of `$fpath`.
 * @param program Name of the program on the command line.
 * @param request Hidden command that answers, with or without descriptions.
 */
export function zshScript(program: string, request: string): string {
  return `#compdef ${program}
# Completion of ${program} for zsh.
#   for this shell:  source <(${program} completion zsh)      (after: autoload -U compinit; compinit)
#   for every shell: ${program} completion zsh > "\${fpath[1]}/_${program}"

_${program}() {
    local reply directive value text
    local -a replies rows
    replies=("\${(@f)$("\${(Q)words[1]}" ${request} "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    directive="\${replies[-1]#:}"
    for reply in "\${(@)replies[1,-2]}"; do
        value="\${reply%%$'\\t'*}"
        text="\${reply#*$'\\t'}"
        value="\${value//:/\\\\:}"
        if [[ "$reply" == *$'\\t'* ]]; then rows+=("$value:$text"); else rows+=("$value"); fi
    done
    # Of --flag=path only the path is looked up.
    if [[ "$directive" == (files|folders) && "$PREFIX" == --*=* ]]; then compset -P '*='; fi
    case "$directive" in
        files) _files ;;
        folders) _files -/ ;;
        nospace) _describe -t values 'value' rows -S '' ;;
        *) _describe -t values 'value' rows ;;
    esac
}

if [[ "\${funcstack[1]}" == "_${program}" ]]; then
    _${program} "$@"
else
    compdef _${program} ${program}
fi
`;
}
