import Foundation
import TestSupport
import Testing

/// pumpctl, run to its end by a small program that tells how much memory it took.
///
/// A child of this process may carry this process's own peak over.
enum MeasuredProgram {
    private static let measuring = """
        import resource, subprocess, sys
        status = subprocess.call(sys.argv[1:])
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
        sys.exit(status)
        """

    /// The most memory that pumpctl had, or a program that it has started, in kB. It has to end with 0.
    static func peak(of arguments: String..., environment: [String: String] = [:]) async throws -> Int {
        let ours = ChildProcess.surroundings
        let program = try await ChildProcess(
            ["python3", "-c", measuring, Executable.pumpctl] + arguments, environment: ours.merging(environment) { $1 })
        let ending = try await program.ending(within: .seconds(600))
        #expect(ending.status == 0, "\(ending)")
        return try #require(ending.output.split(separator: "\n").last.flatMap { Int($0) }, "\(ending)")
    }
}
