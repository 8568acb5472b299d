# Completes `assent` in bash and zsh: `. deploy/completion/assent.sh` in ~/.bashrc or ~/.zshrc. Completions come from
# `assent … --help`, so they always match the build; values, such as ids and logins, are not completed.

if [ -n "${ZSH_VERSION-}" ]; then
  autoload -U +X compinit bashcompinit
  type compdef > /dev/null || compinit
  bashcompinit
fi

_assent() {
  local at word help
  local before=() choices=()
  # Only commands and their arguments: an option before --help could take it as its value, and the command would run.
  for ((at = 1; at < COMP_CWORD; at++)); do
    [[ ${COMP_WORDS[at]} == -* ]] || before+=("${COMP_WORDS[at]}")
  done
  help=$("${COMP_WORDS[0]}" "${before[@]}" --help 2> /dev/null < /dev/null)
  # Lines of the help such as `  -h, --help  …`, `  --name <name>  …` and `  show [options] <id>  …`.
  while read -r word; do choices+=("$word"); done <<< "$(sed -nE 's/^  (-[a-z], )?(--[a-z-]+|[a-z][a-z-]*)([ ,].*)?$/\2/p' <<< "$help")"
  COMPREPLY=($(compgen -W "${choices[*]}" -- "${COMP_WORDS[COMP_CWORD]}"))
}

complete -o default -F _assent assent
