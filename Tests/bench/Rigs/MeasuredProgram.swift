import Foundation
import TestSupport
import Testing

/// pumpctl, run to its end by a small program that repeatedly measures its memory.
///
/// Only private memory counts. The mapped part of its file, which the system's peak includes, depends on the rest of
/// the machine: 3,000 kB more or less were seen.
enum MeasuredProgram {
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

    /// The maximum private memory seen in pumpctl or a program that it has started, in kB. pumpctl must exit with 0.
    static func peak(of arguments: String..., environment: [String: String] = [:]) async throws -> Int {
        let ours = ChildProcess.surroundings
        let program = try await ChildProcess(
            ["python3", "-c", measuring, Executable.pumpctl] + arguments, environment: ours.merging(environment) { $1 })
        let ending = try await program.ending(within: .seconds(600))
        #expect(ending.status == 0, "\(ending)")
        return try #require(ending.output.split(separator: "\n").last.flatMap { Int($0) }, "\(ending)")
    }
}
