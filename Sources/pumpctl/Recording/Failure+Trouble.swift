import RecordFormat

extension Failure {
    /// Creates the failure for a record that can't be read or written.
    init(_ trouble: Trouble) {
        let status: ExitStatus =
            switch trouble.code {
            case "not_found", "no_place": .noInput
            case "not_permitted": .noPermission
            case "locked", "not_installed": .unavailable
            default: .ioError
            }
        self.init(status, code: trouble.code, trouble.text, hint: trouble.hint)
    }
}
