import Foundation
import TestSupport
import Testing

/// pumpctl, run by a Python program that measures pumpctl's memory every 5 ms.
///
/// Only private memory (`RssAnon`) counts. The kernel's own peak (`VmHWM`) also contains mapped pages of the
/// executable, whose number depends on other programs: it was seen to vary by 3,000 kB.
enum MeasuredProgram {
    /// Runs the command in its arguments, prints the peak in kB as its last line, and exits with the command's status.
    private static let measuring = """
        import re, subprocess, sys
        def own(process):
            try:
                found = re.search(r"RssAnon:\\s*(\\d+)", open(f"/proc/{process}/status").read())
                children = open(f"/proc/{process}/task/{process}/children").read().split()
            except OSError:
                return 0
            return max([int(found[1]) if found else 0] + [own(child) for child in children])
        program, peak = subprocess.Popen(sys.argv[1:]), 0
        while program.poll() is None:
            peak = max(peak, own(program.pid))
            try:
                program.wait(0.005)
            except subprocess.TimeoutExpired:
                pass
        print(peak)
        sys.exit(program.returncode)
        """

    /// Runs pumpctl to its end, which must be an exit with 0.
    ///
    /// - Returns: The maximum private memory, in kB, of pumpctl or a program that it has started, whichever had more.
    static func peak(of arguments: String..., environment: [String: String] = [:]) async throws -> Int {
        let ours = ChildProcess.surroundings
        let program = try await ChildProcess(
            ["python3", "-c", measuring, Executable.pumpctl] + arguments, environment: ours.merging(environment) { $1 })
        let ending = try await program.ending(within: .seconds(600))
        #expect(ending.status == 0, "\(ending)")
        return try #require(ending.output.split(separator: "\n").last.flatMap { Int($0) }, "\(ending)")
    }
}
