import Glibc
import RecordFormat
import TestSupport
import Testing

@testable import DeviceKit

@Suite("Companion programs")
struct CompanionProgramTests {
    @Test("A companion is looked for beside the program, then in libexec, then in the given folders")
    func places() throws {
        let folder = TemporaryFolder()
        for name in ["bin", "libexec", "libexec/pumpctl", "path"] { try folder.makeFolder(name) }
        /// Returns the path of the program that is found; nil if there is none.
        func found() -> String? {
            try? CompanionProgram.installed(
                "pumpctld", besides: folder.path("bin/pumpctl"), orIn: "/nowhere:\(folder.path("path"))"
            ).path
        }
        let trouble = #expect(throws: Trouble.self) {
            try CompanionProgram.installed("pumpctld", besides: folder.path("bin/pumpctl"))
        }
        #expect(trouble?.code == "not_installed")
        #expect(trouble?.text == "pumpctld is not installed")
        #expect(trouble?.hint.contains("the package pumpctld,") == true)
        for name in ["path/pumpctld", "bin/../libexec/pumpctl/pumpctld", "bin/pumpctld"] {
            let path = folder.write("", to: name)
            #expect(found() != path, "it can't be executed")
            chmod(path, 0o755)
            #expect(found() == path)
        }
    }
}
