/// The scripts by which shells complete command lines of pumpctl. Each of them asks pumpctl: see ``CompletionRequest``.
/// An answer takes 50 ms at most, including the start of pumpctl.
enum CompletionScript {
    /// Returns the script for a shell.
    static func text(for shell: CompletingShell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    private static let bash = #"""
        # bash completion for pumpctl
        _pumpctl() {
            local index
            mapfile -t COMPREPLY < <(command pumpctl ---complete 45ms bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
            [[ ${COMPREPLY[0]-} != *[/:=?\&@.,] ]] || compopt -o nospace
            [[ ${COMPREPLY[0]-} == -- ]] || return 0
            # Behind '--' is the command line of another program.
            COMPREPLY=()
            for ((index = 1; index < COMP_CWORD; index++)); do
                [[ ${COMP_WORDS[index]} == -- ]] || continue
                if declare -F _comp_command_offset >/dev/null; then
                    _comp_command_offset $((index + 1))
                elif declare -F _command_offset >/dev/null; then
                    _command_offset $((index + 1))
                fi
                return 0
            done
        }
        complete -F _pumpctl pumpctl

        """#

    private static let zsh = #"""
        #compdef pumpctl
        # zsh completion for pumpctl
        _pumpctl() {
            local -a answer whole open
            local -i end
            answer=("${(@f)$(command pumpctl ---complete 45ms zsh "${(j: :)words[1,CURRENT-1]} $QIPREFIX$IPREFIX$PREFIX" 2>/dev/null)}")
            # zsh would quote the tilde of a path.
            if [[ $PREFIX == '~/'* ]]; then
                answer=("${(@)answer/\~\//}")
                IPREFIX+='~/' PREFIX=${PREFIX#'~/'}
            fi
            if [[ $answer == --- ]]; then
                # Behind '--' is the command line of another program.
                end=${words[(i)--]}
                shift $end words
                (( CURRENT -= end ))
                _normal
                return
            fi
            whole=("${(@)${(@M)answer:#-*}#-}")
            open=("${(@)${(@M)answer:#+*}#+}")
            _describe -V pumpctl whole -- open -S ''
        }
        if [[ ${funcstack[1]} == _pumpctl ]]; then
            _pumpctl "$@"
        else
            compdef _pumpctl pumpctl
        fi

        """#

    private static let fish = #"""
        # fish completion for pumpctl
        function __pumpctl_complete
            set -l answer (command pumpctl ---complete 45ms fish (commandline -cp | string collect) 2>/dev/null)
            if test "$answer" != --\t
                string join -- \n $answer
                return
            end
            # Behind '--' is the command line of another program.
            set -l words (commandline -cpo)
            set -l end (contains -i -- -- $words)
            complete -C (string join -- ' ' $words[(math $end + 1)..] (commandline -ct) | string collect)
        end
        complete -c pumpctl -f -a '(__pumpctl_complete)'

        """#
}
