import Foundation
import TestSupport

/// The jobs in docs/ci.md, with the keys of GitHub's and GitLab's YAML.
struct CIJobs: Decodable {
    /// A step of a job.
    struct Step: Decodable {
        var name: String?
        /// A third-party action.
        var uses: String?
        /// A script for `sh -e`.
        var run: String?
        /// The condition of the step; nil if it runs only while no step has failed.
        var `if`: String?
        var with: [String: String]?
    }

    struct GitHubJob: Decodable {
        var container: String
        var steps: [Step]
    }

    struct GitHub: Decodable {
        var env: [String: String]
        var jobs: [String: GitHubJob]
    }

    struct GitLabJob: Decodable {
        struct Artifacts: Decodable {
            var when: String
            var reports: [String: [String]]
        }

        var image: String
        var variables: [String: String]
        var beforeScript: [String]
        var script: [String]
        var artifacts: Artifacts

        enum CodingKeys: String, CodingKey {
            case image, variables
            case beforeScript = "before_script"
            case script, artifacts
        }
    }

    /// The first YAML block of the page, a GitHub workflow.
    let github: GitHub
    /// The second YAML block: GitLab's jobs by their names.
    let gitlab: [String: GitLabJob]

    /// Reads the page's two YAML blocks, GitHub's and then GitLab's, with PyYAML.
    static func read(_ page: MarkdownPage) async throws -> CIJobs {
        let texts = page.blocks.filter { $0.kind == "yaml" }.map { $0.lines.joined(separator: "\n") }
        let folder = TemporaryFolder()
        for (name, text) in zip(["github", "gitlab"], texts) {
            try text.write(toFile: folder.path(name), atomically: true, encoding: .utf8)
        }
        let script = """
            import json, sys, yaml
            print(json.dumps({name: yaml.safe_load(open(f'{sys.argv[1]}/{name}')) for name in ['github', 'gitlab']}))
            """
        let ending = try await ChildProcess(["/usr/bin/python3", "-c", script, folder.path]).ending()
        guard ending.status == 0, texts.count == 2 else { throw Unreadable(ending: ending) }
        return try JSONDecoder().decode(CIJobs.self, from: Data(ending.output.utf8))
    }

    /// The page does not have two YAML blocks, or PyYAML can't parse one of them.
    struct Unreadable: Error { var ending: ChildProcess.Ending }
}
