/**
 * The completion script for bash. The script needs bash 4 and nothing else, and asks the program for candidates.
 *
 * @module
 */

/**
 * Script for a program.
 *
 * Bash cuts words at `=` and `:` before completion, so the script takes the words from the line, and gives back only
 * the part behind the last cut.
 *
 * @param program Name of the program on the command line.
 * @param request Hidden command that answers, with or without descriptions.
 */
export function bashScript(program: string, request: string): string {
  const name = `__${program.replaceAll("-", "_")}_complete`;
  return `# Completion of ${program} for bash.
#   for this shell:  source <(${program} completion bash)
#   for every shell: ${program} completion bash > ~/.local/share/bash-completion/completions/${program}

${name}() {
    local line="\${COMP_LINE:0:COMP_POINT}" current="" kept="" directive="" reply value text
    local -a words=() values=() texts=()
    read -ra words <<< "$line"
    if [[ "$line" == *[[:space:]] ]]; then words+=(""); fi
    current="\${words[\${#words[@]}-1]}"
    COMPREPLY=()

    while IFS= read -r reply; do
        case "$reply" in
            :*) directive="\${reply#:}" ;;
            *) values+=("\${reply%%$'\\t'*}"); texts+=("\${reply#*$'\\t'}") ;;
        esac
    done < <("\${words[0]}" ${request} "\${words[@]:1}" 2>/dev/null)

    if [[ "$current" == *[=:]* ]]; then kept="\${current%"\${current##*[=:]}"}"; fi
    case "$directive" in
        nospace) compopt -o nospace 2>/dev/null ;;
        files) compopt -o filenames 2>/dev/null
            while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "\${current#"$kept"}") ;;
        folders) compopt -o filenames 2>/dev/null
            while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -d -- "\${current#"$kept"}") ;;
    esac

    local i many=$(( \${#values[@]} > 1 ))
    for i in "\${!values[@]}"; do
        value="\${values[i]#"$kept"}"
        text="\${texts[i]}"
        # Descriptions are for the list of several candidates (63 is its COMP_TYPE); a single one is inserted as it is.
        if (( many )) && [[ "\${COMP_TYPE:-9}" == 63 && "$text" != "\${values[i]}" ]]; then
            value="$(printf '%-32s (%s)' "$value" "$text")"
        fi
        COMPREPLY+=("$value")
    done
}

complete -F ${name} ${program}
`;
}
